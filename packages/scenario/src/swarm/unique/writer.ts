import { Maintenance, parseSpec, UniqueProtocol, type Fields, type World } from '@shardlab/unique/core'

export const uniqueSpecs = ['email', { fields: ['tenant', 'handle'] }].map(parseSpec)

export class UniqueWriter {
  readonly #world: World
  readonly #protocol: UniqueProtocol

  constructor(world: World) {
    this.#world = world
    this.#protocol = new UniqueProtocol(world)
  }

  insert(document: Fields): Promise<void> {
    return this.#protocol.insert(document, (scope) => (scope ?? this.#world).main.insertOne(document))
  }

  async update(_id: unknown, $set: Fields): Promise<void> {
    await this.#protocol.change({
      find: (scope) => (scope ?? this.#world).main.findOne({ _id }),
      plan: (before) => ({
        touched: uniqueSpecs.filter(({ fields }) => fields.some((field) => field in $set)),
        after: { ...before, ...$set },
      }),
      write: async ({ region }, guard, scope) =>
        (await (scope ?? this.#world).main.updateOne({ _id, region, ...guard }, { $set })) > 0 ? true : null,
    })
  }

  /** Inserts without a reservation. */
  async insertPast(document: Fields): Promise<void> {
    await this.#world.main.insertOne(document)
  }

  async backfill(): Promise<void> {
    await new Maintenance(this.#world, this.#protocol).backfill()
  }

  async remove(_id: unknown): Promise<void> {
    await this.#protocol.change({
      find: (scope) => (scope ?? this.#world).main.findOne({ _id }),
      plan: () => ({ touched: uniqueSpecs, after: null }),
      write: async ({ region }, guard, scope) =>
        (await (scope ?? this.#world).main.deleteOne({ _id, region, ...guard })) > 0 ? true : null,
    })
  }
}

/** Taken values, concurrent changes, lost replies. Any other error is a violation. */
export function isExpected(error: unknown): boolean {
  return ['ValueTakenError', 'BusyDocumentError', 'UnknownOutcomeError', 'PortError'].includes((error as Error).name)
}
