/** `@shardlab/actor/testing`: a world for one actor. For tests only; not shipped. */
export * from './fake-context.js'
export * from './fake-disk.js'
