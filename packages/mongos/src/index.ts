export { commandTable, mongosRows } from './command-table.js'
export { createMongos } from './mongos.js'
export { defaultMongosLimits, defaultPingIntervalMs, type MongosLimits, type MongosOptions } from './options.js'
