import t from 'tap'
import {
  createDeferred,
  createObjectIdFactory,
  createRandom,
  createShortId,
  cursorId,
  objectIdAfter,
  uuidV4,
} from '../src/index.js'

t.test('object ids are a function of seed and time, and consecutive', async (test) => {
  const create = createObjectIdFactory(createRandom(1))
  const atMs = 0x6523_4567 * 1000 + 999
  const [first, second, later] = [create(atMs), create(atMs), create(atMs + 1)]
  const view = (id: Uint8Array) => new DataView(id.buffer)
  const counter = (id: Uint8Array) => view(id).getUint32(8) & 0xff_ffff
  test.equal(first.length, 12)
  test.equal(view(first).getUint32(0), 0x6523_4567)
  test.equal(view(later).getUint32(0), 0x6523_4568)
  test.same(first.slice(4, 9), second.slice(4, 9))
  test.equal(counter(second), (counter(first) + 1) & 0xff_ffff)
  test.equal(view(create(0xffff_ffff * 1000)).getUint32(0), 0xffff_ffff, 'until 2106')
  test.notSame(createObjectIdFactory(createRandom(2))(atMs).slice(4), first.slice(4))
  test.same(createObjectIdFactory(createRandom(1))(atMs), first, 'a function of seed and time')
})

t.test('the counter of object ids wraps at 24 bits', async (test) => {
  const create = createObjectIdFactory({
    ...createRandom(1),
    bytes: (length: number) => new Uint8Array(length),
    below: () => 0xff_ffff,
  } as never)
  test.same([...create(0)].slice(9), [255, 255, 255])
  test.same([...create(0)].slice(9), [0, 0, 0])
})

t.test('uuids have version 4 and the variant of RFC 9562', async (test) => {
  const random = createRandom(1)
  for (let i = 0; i < 100; i++) {
    const hex = Buffer.from(uuidV4(random)).toString('hex')
    if (!/^.{12}4.{3}[89ab].{15}$/.test(hex)) test.fail(hex)
  }
  test.notSame(uuidV4(random), uuidV4(random))
})

t.test('cursor ids are positive int64', async (test) => {
  const random = createRandom(1)
  const ids = Array.from({ length: 1000 }, () => cursorId(random))
  test.equal(new Set(ids).size, 1000)
  test.ok(ids.every((id) => id > 0n && id < 2n ** 63n))
  test.ok(
    ids.some((id) => id > 2n ** 62n),
    'of the whole range',
  )
  const draws = [0x8000_0000, 0, 0, 5]
  test.equal(cursorId({ uint32: () => draws.shift()! } as never), 5n, 'never zero')
})

t.test('short ids have eight distinct-looking characters, and are a function of the seed', async (test) => {
  const create = createShortId(createRandom(1))
  const ids = Array.from({ length: 1000 }, () => create())
  test.ok(ids.every((id) => /^[2-9a-hjkmnp-z]{8}$/.test(id)))
  test.equal(new Set(ids).size, 1000)
  test.equal(createShortId(createRandom(3))(), createShortId(createRandom(3))())
})

t.test('a deferred promise is settled once', async (test) => {
  const good = createDeferred<number>()
  good.resolve(1)
  good.reject(new Error('too late'))
  test.equal(await good.promise, 1)
  const bad = createDeferred<number>()
  bad.reject(new Error('no'))
  await test.rejects(bad.promise, /no/)
})

t.test('objectIdAfter gives the next id of a factory', async (test) => {
  const create = createObjectIdFactory(createRandom(3))
  const first = create(1000)
  test.same(objectIdAfter(first), create(1000))
  test.same(
    [...objectIdAfter(new Uint8Array([1, 1, 1, 1, 2, 2, 2, 2, 2, 7, 255, 255]))],
    [1, 1, 1, 1, 2, 2, 2, 2, 2, 8, 0, 0],
  )
  test.same(
    [...objectIdAfter(new Uint8Array([1, 1, 1, 1, 2, 2, 2, 2, 2, 255, 255, 255]))],
    [1, 1, 1, 1, 2, 2, 2, 2, 2, 0, 0, 0],
  )
})
