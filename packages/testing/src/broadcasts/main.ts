import { printBroadcasts } from './program.js'

process.exitCode = printBroadcasts(process.argv.slice(2))
