import { createRandom } from '@shardlab/actor'
import { DocumentWriter, encode, findField } from '@shardlab/bson'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { FailPoints } from '../src/fail-points/fail-points.js'
import type { ParameterOwner, ParameterRow } from '../src/parameters/parameter.js'
import { ParameterSet } from '../src/parameters/parameter-set.js'

const runtime = { settableAtRuntime: true, settableAtStartup: true } as const
const own = [
  { name: 'zebra', type: 'int', initial: 7, max: 9, ...runtime },
  { name: 'aardvark', type: 'bool', initial: false, ...runtime, behaviour: 'queryAnalyzer' },
  {
    name: 'fixed',
    type: 'bool',
    initial: false,
    ...runtime,
    refusal: { accepts: false, code: 'IllegalOperation', message: 'not here' },
  },
] as const satisfies readonly ParameterRow[]

function parametersOf(version: EmulatedVersion) {
  const behaviours = behavioursOf(version)
  const owner = {
    behaviours,
    failPoints: new FailPoints({ process: 'mongod', behaviours }, createRandom('test')),
  } as Omit<ParameterOwner, 'parameters'>
  return new ParameterSet<(typeof own)[number]['name']>(owner as ParameterOwner, own)
}

const valueOf = (value: unknown) => findField(encode({ value }), 'value')!

t.test('a set has the parameters of every member and those of its role, by name', (t) => {
  const names = parametersOf('8.0').rows.map(({ name }) => name)
  const common = names.filter((name) => !name.startsWith('failpoint.'))
  t.same(common, common.toSorted())
  t.match(names, ['aardvark', 'acceptApiVersion2'])
  t.ok(names.includes('logLevel') && names.includes('zebra'))
  t.notOk(parametersOf('4.4').find('aardvark'), 'the version does not have it')
  t.end()
})

t.test('a value is checked, shown and exported after it was set', (t) => {
  const set = parametersOf('8.0')
  let changes = 0
  set.watch('zebra', () => changes++)
  set.set('zebra', valueOf(8))
  t.equal(set.number('zebra'), 8)
  t.equal(changes, 1)
  t.throws(() => set.set('zebra', valueOf(10)), { code: 2 })
  t.throws(() => set.set('unicorn', valueOf(1)), { code: 72 })
  t.throws(() => set.set('fixed', valueOf(true)), { code: 20, message: 'not here' })
  const writer = new DocumentWriter()
  set.write(writer, set.find('zebra')!, 'was')
  t.same(writer.finish(), new DocumentWriter().int32('was', 8).finish())
  const other = parametersOf('8.0')
  other.import(set.export())
  t.equal(other.number('zebra'), 8)
  t.end()
})
