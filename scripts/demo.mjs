/** `npm run demo`: a short tour on its own cluster. */
import { main } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main((args) => runProgram('test/dist/demo/main.js', args))
