/** `npm run conformance [-- options]`: the drivers' test files against a cluster; --help tells the options. */
import { main } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main((args) => runProgram('test/dist/conformance/main.js', args))
