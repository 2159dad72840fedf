import type { CommandArguments } from '@shardlab/actor'

/** The argument may be in the body or in a document sequence. */
export function documentsArgument(
  invocation: {
    readonly args: CommandArguments
    readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  },
  name: string,
): readonly Uint8Array[] {
  for (const [id, documents] of invocation.sequences) if (id === name) return documents
  return invocation.args.documents(name) ?? []
}
