import t from 'tap'
import {
  accumulatorOperators,
  expressionOperators,
  findOperator,
  pathOperators,
  rootOperators,
  stageOperators,
  updateModifiers,
  windowFunctions,
  languageFeatures,
  languageOf,
  newestLanguage,
  type FeatureKind,
  type Language,
  type OperatorRow,
} from '../src/index.js'

t.test('every operator has a row with its manual page and its status', (t) => {
  for (const table of [
    pathOperators,
    rootOperators,
    expressionOperators,
    accumulatorOperators,
    windowFunctions,
    stageOperators,
    updateModifiers,
  ]) {
    for (const [name, row] of table) {
      t.equal(row.name, name)
      t.equal(row.lacks, undefined, name)
      t.match(name, /^\$[a-zA-Z0-9]+$/)
      t.match(row.manualPage, /^(query|update|aggregation)(\/[A-Za-z0-9-]+)?$/, name)
      t.equal(
        row.missing === undefined && row.lacks === undefined && row.deviations === undefined,
        row.status === 'complete',
        `${name}: a partial row says what is missing or lacking`,
      )
    }
  }
  t.end()
})

t.test('no operator lacks anything silently; strict evaluation would refuse it', (t) => {
  const row: OperatorRow = { name: '$sortArray', manualPage: 'aggregation/a', status: 'partial', lacks: 'b' }
  const refusing: OperatorRow = { name: '$match', manualPage: 'aggregation/b', status: 'partial', missing: 'c' }
  const find = (over: { language?: Language; strict?: boolean }) =>
    findOperator('expression', new Map([[row.name, row]]), row.name, over)
  t.equal(find({}), row)
  t.throws(() => find({ strict: true }), { code: 115, message: '$sortArray is refused in strict mode, as it lacks b' })
  const language = languageOf('5.0')
  t.equal(find({ language, strict: true }), undefined, 'an unknown operator is reported as unknown first')
  t.equal(findOperator('stage', new Map([[refusing.name, refusing]]), refusing.name, { strict: true }), refusing)
  t.end()
})

t.test('the table of the query language has every operator, and no other', (t) => {
  const tables: [FeatureKind, Iterable<string>][] = [
    ['filter', [...pathOperators.keys(), ...rootOperators.keys()]],
    ['update', updateModifiers.keys()],
    ['stage', stageOperators.keys()],
    ['expression', expressionOperators.keys()],
    ['accumulator', accumulatorOperators.keys()],
    ['window', windowFunctions.keys()],
  ]
  for (const [kind, names] of tables) {
    const listed = new Set(Object.values(languageFeatures[kind].since).flat())
    t.same([...listed].sort(), [...new Set(names)].sort(), kind)
  }
  t.throws(() => newestLanguage.has('stage', '$nope'), { message: /lacks the stage \$nope/ })
  t.end()
})
