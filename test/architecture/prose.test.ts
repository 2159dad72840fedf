import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findOddProse } from './rules/prose.js'
import { expectNoFindings, messagesOf } from './support.js'

const odd = (text: string, path = 'docs/a.md'): string[] => messagesOf(findOddProse(new Repository({ [path]: text })))

t.test('canary: prose that has to be translated', (t) => {
  const canaries: [text: string, message: RegExp][] = [
    ['Whoever asks gets it.', /^name what acts.* \('Whoever'/],
    ['The rest is short. What is kept is small.', /^begin with the subject.* \('\. What is kept is small\.'/],
    ['The migration goes on.', /^write continues.* \('goes on'/],
    ['It begins anew.', /^write restarts.* \('begins anew'/],
    ['A lock lets other writers wait.', /^write blocks.* \('lets other writers wait'/],
    ['From 8.0 on it moves.', /^write since 8\.0.* \('From 8\.0 on'/],
    ['Chunks are counted up to 6.0.2.', /^write until.* \('up to 6\.0\.2'/],
    ['It heeds zones.', /^use the plain word.* \('heeds'/],
    ['x is no step.', /^write is not a ….* \('is no step'/],
    ['It tells which shards were asked.', /^write reports.* \('tells which'/],
    ['The donor hears.', /^write receives.* \('hears'/],
    ['The count stands behind the name.', /^write follows.* \('stands behind'/],
    ['The drop is carried to its end.', /^write completes.* \('carried to its end'/],
    ['The move is given up.', /^write aborts.* \('is given up'/],
    ['The reply goes back as it came.', /^write unchanged.* \('as it came'/],
  ]
  for (const [text, message] of canaries) t.match(odd(text), [message], text)
  t.end()
})

t.test('canary: a pattern across lines of a page, a comment or a test name', (t) => {
  const place = (text: string, path: string): unknown =>
    findOddProse(new Repository({ [path]: text })).map(({ line, message }) => [line, message])
  t.match(place('# A\n\nThe drop goes\non.', 'docs/a.md'), [[3, /^write continues/]])
  t.match(place('/**\n * The drop goes\n * on.\n */\n', 'packages/x/src/a.ts'), [[2, /^write continues/]])
  t.match(place('f()\n// The drop goes\n// on.\n', 'packages/x/src/a.ts'), [[2, /^write continues/]])
  t.match(place("\nt.test('the drop goes on', f)\n", 'packages/x/test/a.test.ts'), [[2, /^write continues/]])
  t.match(place("\nt.test(`${{ a: '}' }.a}: the drop goes on`, f)\n", 'packages/x/test/a.test.ts'), [
    [2, 'write continues'],
  ])
  t.match(place('| a | the drop goes on |', 'docs/a.md'), [[1, /^write continues/]])
  t.end()
})

t.test('canary: test names that are not claims', (t) => {
  const named = (name: string): string[] => odd(`t.test('${name}', f)\n`, 'packages/x/test/a.test.ts')
  t.match(named('what is refused'), [/^write a claim that can be true or false \('what is refused'/])
  t.match(named('whose chunks move'), [/^write a claim/])
  t.strictSame(named('a router that missed a split retries once'), [])
  t.strictSame(odd("f('what is refused')\n", 'packages/x/test/a.test.ts'), [])
  t.end()
})

t.test('canary: code, links, questions and plain prose are fine', (t) => {
  t.strictSame(odd('`whoever` and [this](whoever.md)\n```\nwhoever\n```\n'), [])
  t.strictSame(odd('What is a chunk? There is no such field. It goes on top. Count up to 60.'), [])
  t.strictSame(odd("const a = 'whoever'\nconst b = `goes\non`\n", 'packages/x/src/a.ts'), [])
  t.end()
})

t.test('canary: wide lines', (t) => {
  const wide = 'word '.repeat(21).trim()
  t.strictSame(odd(wide), ['is 104 characters wide, more than 100: wrap it'])
  t.strictSame(odd(`// ${wide}`, 'packages/x/src/a.ts'), ['is 107 characters wide, more than 100: wrap it'])
  t.strictSame(odd(`| ${wide} |\nhttps://example.com/ ${wide}\n\`\`\`\n${wide}\n\`\`\``), [])
  t.strictSame(odd(`const a = '${wide}'`, 'packages/x/src/a.ts'), [])
  t.end()
})

t.test('comments, pages and test names are in plain English', (t) => {
  expectNoFindings(t, findOddProse(readRepository()), 'plain English')
  t.end()
})
