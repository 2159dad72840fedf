/** Commands of one shape differ in varying values only. Sharing it must not change any result. */
import { CommandArguments, type FieldSpecs } from '@shardlab/actor'
import { encode, Int32, Long, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import fc from 'fast-check'

const specs = {
  filter: 'object',
  limit: 'number',
  sort: 'object',
  tailable: 'bool',
  txnNumber: 'int64',
} as const satisfies FieldSpecs
const names = ['filter', 'limit', 'sort', 'tailable', 'txnNumber', 'lsid', '$db', 'comment'] as const

/** A specification without cached shapes. */
const fresh = (): FieldSpecs => ({ ...specs })

function contents(args: CommandArguments): unknown {
  return [
    args.command,
    args.target.type,
    Buffer.from(args.target.slice()).toString('hex'),
    names.map((name) => {
      const value = args.value(name)
      return [args.has(name), value?.type, value === undefined ? null : Buffer.from(value.slice()).toString('hex')]
    }),
  ]
}

const value = fc.oneof(
  fc.integer().map((n) => new Int32(n)),
  fc.string({ maxLength: 12 }),
  fc.boolean(),
  fc.constant(null),
)
const command = fc
  .record(
    {
      find: fc.oneof(fc.constantFrom('a', 'b', 'é', 'a longer name of a collection'), fc.constant(new Int32(1))),
      filter: fc.dictionary(
        fc.string({ maxLength: 4 }).map((name) => name.replaceAll('\0', '')),
        value,
        { maxKeys: 3, noNullPrototype: true },
      ),
      limit: fc.constantFrom(new Int32(1), new Int32(2), null),
      lsid: fc.constantFrom(new UUID(Buffer.alloc(16, 1)), new UUID(Buffer.alloc(16, 2))).map((id) => ({ id })),
      sort: fc.constantFrom({}, { a: 1 }, { b: 1 }),
      txnNumber: fc.bigInt({ min: 0n, max: 9n }).map((n) => Long.fromBigInt(n)),
      comment: value,
      $db: fc.constantFrom('test', 'other'),
    },
    { requiredKeys: ['find', '$db'] },
  )
  .map((fields): Document => fields)

t.test('cached shapes do not change the arguments of a command', async () => {
  const used = fresh()
  fc.assert(
    fc.property(fc.array(command, { minLength: 1, maxLength: 20 }), (commands) => {
      for (const each of commands) {
        const body = encode(each)
        const known = contents(CommandArguments.parse(body, used))
        const parsedAgain = contents(CommandArguments.parse(body, fresh()))
        if (JSON.stringify(known) !== JSON.stringify(parsedAgain)) return false
      }
      return true
    }),
    {
      numRuns: 300,
      ...(process.env['SHARDLAB_SEED'] === undefined ? {} : { seed: Number(process.env['SHARDLAB_SEED']) }),
    },
  )
})

t.test('memoized work gets the same values as work on each command', async () => {
  const used = fresh()
  const fixedNames = ['limit', 'sort', 'comment', '$db'] as const
  const toldOfFixed = (args: CommandArguments): unknown => [
    args.target.type,
    Buffer.from(args.target.slice()).toString('hex'),
    fixedNames.map((name) => args.value(name)?.slice().join(' ')),
  ]
  fc.assert(
    fc.property(fc.array(command, { minLength: 1, maxLength: 20 }), (commands) => {
      for (const each of commands) {
        const args = CommandArguments.parse(encode(each), used)
        if (JSON.stringify(args.fixed(toldOfFixed, used, toldOfFixed)) !== JSON.stringify(toldOfFixed(args)))
          return false
      }
      return true
    }),
    {
      numRuns: 200,
      ...(process.env['SHARDLAB_SEED'] === undefined ? {} : { seed: Number(process.env['SHARDLAB_SEED']) }),
    },
  )
})

t.test('the shape of a large command does not keep the command in memory', async (t) => {
  const body = encode({
    find: 'c',
    filter: { a: 'x'.repeat(1_000_000) },
    sort: { b: 1 },
    lsid: { id: 1 },
    limit: new Int32(3),
    $db: 'test',
  })
  const args = CommandArguments.parse(body, fresh())
  const kept = args.fixed({}, {}, (fixed) => ({ sort: fixed.document('sort')!, limit: fixed.number('limit') }))
  t.same(Buffer.from(kept.sort), Buffer.from(encode({ b: 1 })))
  t.equal(kept.limit, 3)
  t.ok(kept.sort.buffer.byteLength < 4096, String(kept.sort.buffer.byteLength))
})

t.test('a value of another type is refused, even if the rest matches a shape', async (t) => {
  const used = fresh()
  for (let i = 0; i < 3; i++) CommandArguments.parse(encode({ find: 'c', filter: { a: i }, $db: 'test' }), used)
  t.throws(() => CommandArguments.parse(encode({ find: 'c', filter: 1, $db: 'test' }), used), { code: 14 })
  t.throws(() => CommandArguments.parse(encode({ find: 'c', filter: {}, more: 1, $db: 'test' }), used), { code: 40415 })
})

t.test('document sequences count as arguments of their own command only', async (t) => {
  const used: FieldSpecs = { documents: 'array!' }
  const body = encode({ insert: 'c', $db: 'test' })
  CommandArguments.parse(body, used, ['documents'])
  t.throws(() => CommandArguments.parse(body, used), { code: 40414 })
  t.doesNotThrow(() => CommandArguments.parse(body, used, ['documents']))
})

t.test('memoized work runs once for commands of one shape', async (t) => {
  const used = fresh()
  const key = {}
  const scope = {}
  let worked = 0
  const limitOf = (limit: number, filter: Document, within: object = scope): number | undefined =>
    CommandArguments.parse(encode({ find: 'c', filter, limit: new Int32(limit), $db: 'test' }), used).fixed(
      key,
      within,
      (args) => {
        worked++
        return args.number('limit')
      },
    )
  t.equal(limitOf(1, { a: 'x' }), 1)
  t.equal(limitOf(1, { b: 'some other text' }), 1)
  t.equal(worked, 1)
  t.equal(limitOf(2, { a: 'x' }), 2)
  t.equal(worked, 2, 'another limit gives another shape')
  t.equal(limitOf(2, { a: 'x' }, {}), 2)
  t.equal(worked, 3, 'another scope gives another result')
})

t.test('commands that occur once do not evict frequent ones', async (t) => {
  const used = fresh()
  const key = {}
  let worked = 0
  const run = (comment: string): void => {
    CommandArguments.parse(encode({ find: 'c', comment, $db: 'test' }), used).fixed(key, key, () => worked++)
  }
  for (let i = 0; i < 20; i++) run(`once ${i}`)
  worked = 0
  for (let i = 0; i < 50; i++) {
    run('often')
    run(`and once ${i}`)
  }
  t.equal(worked, 51)
})

t.test('memoized work cannot read values that vary', async (t) => {
  const args = CommandArguments.parse(encode({ find: 'c', filter: {}, $db: 'test' }), fresh())
  t.throws(() => args.fixed({}, {}, (fixed) => fixed.document('filter')), {
    message: 'filter differs from command to command',
  })
  t.ok(args.document('filter'))
  const more = CommandArguments.parse(encode({ getMore: Long.fromNumber(7), $db: 'test' }), fresh())
  t.throws(() => more.fixed({}, {}, (fixed) => fixed.target), { message: 'getMore differs from command to command' })
  t.equal(more.target.asBigInt(), 7n)
})

t.test('an invalid collection name is refused each time', async (t) => {
  const used = fresh()
  for (let i = 0; i < 2; i++) {
    const args = CommandArguments.parse(encode({ find: '.c', $db: 'test' }), used)
    t.equal(args.namedCollection('test'), 'test..c')
    t.throws(() => args.namespace('test'), { code: 73 })
  }
  const good = () => CommandArguments.parse(encode({ find: 'c', $db: 'test' }), used)
  t.equal(good().namespace('test'), 'test.c')
  t.equal(good().namespace('other'), 'other.c')
  t.equal(CommandArguments.parse(encode({ find: 1, $db: 'test' }), used).namedCollection('test'), null)
})
