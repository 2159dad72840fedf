/** `npm start [-- options]`: a cluster on this machine, from a fresh clone. Options are those of `shardlab up`. */
import { main } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main((args) => runProgram('packages/shardlab/bin/shardlab.js', ['up', ...args]))
