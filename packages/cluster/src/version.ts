import { createRequire } from 'node:module'

/** Of Shardlab. */
export const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string }
