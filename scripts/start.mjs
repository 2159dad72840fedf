/**
 * `npm start [-- options]`: starts a cluster on this machine, also from a fresh clone. It takes the
 * options of `shardlab up`.
 */
import { main } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main((args) => runProgram('packages/shardlab/bin/shardlab.js', ['up', ...args]))
