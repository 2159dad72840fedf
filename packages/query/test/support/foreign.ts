import { decode, encode, type Document } from '@shardlab/bson'
import {
  compilePipeline,
  evaluateDocuments,
  type EvaluationContext,
  type ForeignBatch,
  type JoinRequest,
  type PipelineRun,
} from '../../src/index.js'
import { context } from './helpers.js'

export type Collections = Readonly<Record<string, readonly Document[]>>

/** Returns batches of `batchSize` documents, so that reads take several batches. */
export class FakeReader {
  readonly requests: JoinRequest[] = []
  readonly #collections: Collections
  readonly #batchSize: number
  readonly #context: EvaluationContext

  constructor(collections: Collections, batchSize = 2, evaluation: EvaluationContext = context) {
    this.#collections = collections
    this.#batchSize = batchSize
    this.#context = evaluation
  }

  read(request: JoinRequest): ForeignBatch {
    this.requests.push(request)
    const { read, cursor } = request
    const left = cursor === null ? this.#results(read) : (cursor as Uint8Array[])
    const documents = left.slice(0, this.#batchSize)
    const remaining = left.slice(this.#batchSize)
    return { documents, cursor: remaining.length === 0 ? null : remaining }
  }

  #results({ collection, stages, variables, db }: JoinRequest['read']): Uint8Array[] {
    const evaluation = { ...this.#context, variables }
    const pipeline = compilePipeline(stages, evaluation, { db })
    const input =
      collection === null
        ? evaluateDocuments(pipeline.source!.argument, evaluation)
        : (this.#collections[collection] ?? []).map((document) => encode(document))
    return drain(pipeline.open(), input, this)
  }
}

export function drain(run: PipelineRun, documents: readonly Uint8Array[], reader: FakeReader): Uint8Array[] {
  const serve = () => {
    for (;;) {
      if (run.step() > 0) continue
      const { request } = run
      if (request === null) return
      run.serve(reader.read(request))
    }
  }
  for (const document of documents) {
    if (run.satisfied) break
    run.push(document)
    serve()
  }
  run.end()
  serve()
  return run.output
}

export function join(
  stages: readonly Document[],
  documents: readonly Document[],
  collections: Collections,
  evaluation: EvaluationContext = context,
): Document[] {
  const pipeline = compilePipeline(
    stages.map((stage) => encode(stage)),
    evaluation,
    { db: 'test' },
  )
  return drain(
    pipeline.open(),
    documents.map((document) => encode(document)),
    new FakeReader(collections, 2, evaluation),
  ).map((document) => decode(document))
}

/** The `_id`s of the foreign documents that a $lookup of `f` joined with each local document. */
export function joined(
  local: readonly Document[],
  foreign: readonly Document[],
  lookup: Document = {},
  evaluation?: EvaluationContext,
): unknown[] {
  const stage = { $lookup: { from: 'f', localField: 'a', foreignField: 'b', as: 'j', ...lookup } }
  return join([stage], local, { f: foreign }, evaluation).map(({ j }) => (j as Document[]).map(({ _id }) => _id))
}
