export { commandTable, mongosRows } from './command-table.js'
export { createMongos } from './mongos.js'
export { defaultMongosLimits, defaultPingIntervalMs, type MongosLimits, type MongosOptions } from './options.js'
export { previewRoute, type PreviewedOperation, type PreviewedRoute } from './routing/preview-route.js'
