export * from './arguments.js'
export * from './cluster-time.js'
export * from './row.js'
export * from './unexpected-error.js'
