import t from 'tap'
import { effectOfClick, fromForm, noFault, withTarget } from '../src/page/fault-text.js'

const names = new Set(['config', 'shard03', 'shard04'])

t.test('clicks replace one target after the other', async (t) => {
  const form = fromForm('delay [5%] between mongos01 and shard02 by 20ms')
  t.equal(form.text, 'delay between mongos01 and shard02 by 20ms')
  t.same(form.optionalParts, ['5%'])
  t.equal(effectOfClick(form, names), 'The next click replaces mongos01.')
  const once = withTarget(form, 'shard03', names)
  t.equal(once.text, 'delay between shard03 and shard02 by 20ms')
  t.equal(effectOfClick(once, names), 'The next click replaces shard02.')
  const twice = withTarget(once, 'config', names)
  t.equal(twice.text, 'delay between shard03 and config by 20ms')
  t.equal(withTarget(twice, 'shard04', names).text, 'delay between shard04 and config by 20ms')
})

t.test('a form without a target may get one, and a text without one gets none', async (t) => {
  const form = fromForm('hold at shard.migration.committing [on shard01]')
  t.equal(effectOfClick(form, names), 'The next click adds “on …”.')
  const aimed = withTarget(form, 'shard03', names)
  t.equal(aimed.text, 'hold at shard.migration.committing on shard03')
  t.equal(withTarget(aimed, 'shard04', names).text, 'hold at shard.migration.committing on shard04')
  t.equal(effectOfClick(noFault, names), undefined)
  t.equal(withTarget(noFault, 'shard03', names), noFault)
})

t.test('a click after the last target adds an optional one', async (t) => {
  const form = fromForm('partition shard01 [from shard02] [one way]')
  const once = withTarget(form, 'shard03', names)
  t.equal(once.text, 'partition shard03')
  t.equal(effectOfClick(once, names), 'The next click adds “from …”.')
  const twice = withTarget(once, 'shard04', names)
  t.equal(twice.text, 'partition shard03 from shard04')
  t.equal(withTarget(twice, 'config', names).text, 'partition config from shard04')
})

t.test('an optional target comes before what can follow any fault', async (t) => {
  for (const [form, typed, expected] of [
    ['hold at shard.migration.started [on shard01]', ' first 1', 'hold at shard.migration.started on shard03 first 1'],
    ['crash at shard.migration.started [on shard01]', ' for 5s', 'crash at shard.migration.started on shard03 for 5s'],
  ] as const) {
    const chosen = fromForm(form)
    t.equal(withTarget({ ...chosen, text: `${chosen.text}${typed}` }, 'shard03', names).text, expected)
  }
  const partition = fromForm('partition shard01 [from shard02] [one way]')
  const typed = { ...partition, text: 'partition shard01 one way for 5s' }
  const both = withTarget(withTarget(typed, 'shard04', names), 'config', names)
  t.equal(both.text, 'partition shard04 from config one way for 5s')
})

t.test('both ends of a link are never the same', async (t) => {
  const form = fromForm('delay [5%] between mongos01 and shard02 by 20ms')
  const named = new Set([...names, 'shard02'])
  const once = withTarget(form, 'shard02', named)
  t.equal(once.text, 'delay between mongos01 and shard02 by 20ms')
  t.equal(effectOfClick(once, named), 'The next click replaces mongos01.')
  t.equal(withTarget(once, 'config', named).text, 'delay between config and shard02 by 20ms')
})

t.test('a word of the form is no target', async (t) => {
  const form = fromForm('config unavailable')
  t.equal(effectOfClick(form, names), undefined)
  t.equal(withTarget(form, 'shard03', names).text, 'config unavailable')
})

t.test('targets are found in a text that was changed by hand', async (t) => {
  const typed = { ...fromForm('crash shard02'), text: 'crash shard03 for 5s' }
  t.equal(withTarget(typed, 'config', names).text, 'crash config for 5s')
})
