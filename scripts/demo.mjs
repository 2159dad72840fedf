/** `npm run demo`: a short tour on a cluster of its own. */
import { main } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main((args) => runProgram('test/dist/demo/main.js', args))
