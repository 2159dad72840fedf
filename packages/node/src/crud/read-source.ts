/** Documents of a collection as a find or aggregate reads them. */
import { emptyDocument } from '@shardlab/bson'
import { compileFilter, type EvaluationContext, type PipelineRun } from '@shardlab/query'
import { executePlan, planQuery, type Collection } from '@shardlab/storage'
import type { OwnershipFilter } from '@shardlab/sharding'
import type { DocumentSource } from '../cursors/cursor-manager.js'

/** A source with nothing in it. */
export const emptySource: DocumentSource = { next: () => null }

/** All owned documents that match. */
export function filteredSource(
  collection: Collection | undefined,
  filter: Uint8Array | null,
  ownership: OwnershipFilter | null,
  context: EvaluationContext,
): DocumentSource {
  if (collection === undefined) return emptySource
  const plan = planQuery(collection, { filter: compileFilter(filter ?? emptyDocument, context) })
  const executor = executePlan(plan, ownership === null ? {} : { rowFilter: (document) => ownership.owns(document) })
  return { next: () => executor.next()?.document ?? null }
}

/** A pipeline over a source: documents are pushed in as its results are asked for. */
export class PipelineSource implements DocumentSource {
  readonly #input: DocumentSource
  readonly #run: PipelineRun
  #taken = 0
  #ended = false

  constructor(input: DocumentSource, run: PipelineRun) {
    this.#input = input
    this.#run = run
  }

  next(): Uint8Array | null {
    const { output } = this.#run
    while (this.#taken >= output.length) {
      output.length = 0
      this.#taken = 0
      if (this.#ended) return null
      const document = this.#run.satisfied ? null : this.#input.next()
      if (document === null) {
        this.#ended = true
        this.#run.end()
      } else this.#run.push(document)
    }
    return output[this.#taken++]!
  }
}
