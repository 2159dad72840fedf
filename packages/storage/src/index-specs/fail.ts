import type { CommandError } from '@shardlab/bson'

/** Throws an error whose message quotes the index specification. */
export type Fail = (code: ConstructorParameters<typeof CommandError>[0], message: string) => never
