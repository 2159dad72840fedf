/**
 * `npm run conformance [-- options]`: runs the drivers' test files against a cluster; --help lists
 * the options.
 */
import { main } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main((args) => runProgram('test/dist/conformance/main.js', args))
