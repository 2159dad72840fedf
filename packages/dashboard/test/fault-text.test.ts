import t from 'tap'
import { fromForm, noFault, replacedBy, withTarget } from '../src/page/fault-text.js'

const names = new Set(['config', 'shard03', 'shard04'])

t.test('clicks replace one target after the other', async (t) => {
  const form = fromForm('delay [5%] between mongos01 and shard02 by 20ms')
  t.equal(form.text, 'delay between mongos01 and shard02 by 20ms')
  t.same(form.optionalParts, ['5%'])
  t.equal(replacedBy(form, names), 'mongos01')
  const once = withTarget(form, 'shard03', names)
  t.equal(once.text, 'delay between shard03 and shard02 by 20ms')
  t.equal(replacedBy(once, names), 'shard02')
  const twice = withTarget(once, 'config', names)
  t.equal(twice.text, 'delay between shard03 and config by 20ms')
  t.equal(withTarget(twice, 'shard04', names).text, 'delay between shard04 and config by 20ms')
})

t.test('a form without a target may get one, and a text without one gets none', async (t) => {
  const form = fromForm('hold at shard.migration.committing [on shard01]')
  t.equal(replacedBy(form, names), null)
  const aimed = withTarget(form, 'shard03', names)
  t.equal(aimed.text, 'hold at shard.migration.committing on shard03')
  t.equal(withTarget(aimed, 'shard04', names).text, 'hold at shard.migration.committing on shard04')
  t.equal(replacedBy(noFault, names), undefined)
  t.equal(withTarget(noFault, 'shard03', names), noFault)
})

t.test('a click after the last target adds an optional one', async (t) => {
  const form = fromForm('partition shard01 [from shard02] [one way]')
  const once = withTarget(form, 'shard03', names)
  t.equal(once.text, 'partition shard03')
  t.equal(replacedBy(once, names), null)
  const twice = withTarget(once, 'shard04', names)
  t.equal(twice.text, 'partition shard03 from shard04')
  t.equal(withTarget(twice, 'config', names).text, 'partition config from shard04')
})

t.test('a word of the form is no target', async (t) => {
  const form = fromForm('config unavailable')
  t.equal(replacedBy(form, names), undefined)
  t.equal(withTarget(form, 'shard03', names).text, 'config unavailable')
})

t.test('targets are found in a text that was changed by hand', async (t) => {
  const typed = { ...fromForm('crash shard02'), text: 'crash shard03 for 5s' }
  t.equal(withTarget(typed, 'config', names).text, 'crash config for 5s')
})
