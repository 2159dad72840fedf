export * from './distribution.js'
export * from './load.js'
export * from './migration.js'
export * from './select-migrations.js'
