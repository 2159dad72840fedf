import type { CommandError } from '@shardlab/bson'

/** Throws the error of an invalid index specification, with the specification in its message. */
export type Fail = (code: ConstructorParameters<typeof CommandError>[0], message: string) => never
