/**
 * `npm run bench [-- name …]`: runs measurements, each of which prints its figures. Without a name
 * it lists them.
 */
import { main } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main((args) => runProgram('test/dist/bench/main.js', args))
