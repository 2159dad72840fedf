/** Projections and sorts of find, with the examples of the manual's pages. */
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

const grades = [
  { _id: 1, semester: 1, grades: [70, 87, 90] },
  { _id: 2, semester: 1, grades: [90, 88, 92] },
  { _id: 3, semester: 1, grades: [85, 100, 90] },
  { _id: 4, semester: 2, grades: [79, 85, 80] },
]
const schools = [
  {
    _id: 1,
    zip: '63109',
    students: [
      { name: 'john', school: 102, age: 10 },
      { name: 'jess', school: 102, age: 11 },
      { name: 'jeff', school: 108, age: 15 },
    ],
  },
  { _id: 2, zip: '63110', students: [{ name: 'ajax', school: 100, age: 7 }] },
  {
    _id: 3,
    zip: '63109',
    students: [
      { name: 'ajax', school: 100, age: 7 },
      { name: 'barney', school: 102, age: 7 },
    ],
  },
]
const post = { _id: 1, title: 'Bagels', comments: [{ t: '0' }, { t: '1' }, { t: '2' }, { t: '3' }], likes: 3 }
const project = (
  name: string,
  documents: readonly object[],
  filter: object,
  projection: object,
  gives: readonly object[],
): Example => ({
  name: `${name} ${JSON.stringify(projection)}`,
  documents,
  find: { filter, projection },
  gives,
})
const projections: readonly Example[] = [
  project('the positional operator', grades, { semester: 1, grades: { $gte: 85 } }, { 'grades.$': 1 }, [
    { _id: 1, grades: [87] },
    { _id: 2, grades: [90] },
    { _id: 3, grades: [85] },
  ]),
  project('$elemMatch', schools, { zip: '63109' }, { students: { $elemMatch: { school: 102 } } }, [
    { _id: 1, students: [{ name: 'john', school: 102, age: 10 }] },
    { _id: 3, students: [{ name: 'barney', school: 102, age: 7 }] },
  ]),
  project('$elemMatch without a match', schools, { _id: 2 }, { students: { $elemMatch: { school: 102 } } }, [
    { _id: 2 },
  ]),
  project('$slice', [post], {}, { comments: { $slice: 2 } }, [{ ...post, comments: [{ t: '0' }, { t: '1' }] }]),
  project('$slice', [post], {}, { comments: { $slice: -1 } }, [{ ...post, comments: [{ t: '3' }] }]),
  project('$slice', [post], {}, { comments: { $slice: [1, 2] } }, [{ ...post, comments: [{ t: '1' }, { t: '2' }] }]),
  project('$slice', [post], {}, { comments: { $slice: [-3, 2] } }, [{ ...post, comments: [{ t: '1' }, { t: '2' }] }]),
  project('$slice', [post], {}, { title: 1, comments: { $slice: 1 } }, [
    { _id: 1, title: 'Bagels', comments: [{ t: '0' }] },
  ]),
  project('$slice', [post], {}, { title: 0, comments: { $slice: 1 } }, [{ _id: 1, comments: [{ t: '0' }], likes: 3 }]),
  project('inclusion', [post], {}, { title: 1, likes: 1 }, [{ _id: 1, title: 'Bagels', likes: 3 }]),
  project('without _id', [post], {}, { title: 1, _id: 0 }, [{ title: 'Bagels' }]),
  project('exclusion', [post], {}, { comments: 0 }, [{ _id: 1, title: 'Bagels', likes: 3 }]),
  project('below an array', [post], {}, { 'comments.t': 1 }, [{ _id: 1, comments: post.comments }]),
  project('expressions', [post], {}, { _id: 0, n: { $size: '$comments' }, why: { $literal: 1 }, s: 'text' }, [
    { n: 4, why: 1, s: 'text' },
  ]),
  {
    name: 'sort, skip and limit',
    documents: grades,
    find: { filter: {}, sort: { semester: -1, _id: -1 }, skip: 1, limit: 2, projection: { _id: 1 } },
    gives: [{ _id: 3 }, { _id: 2 }],
    order: 'sorted',
  },
  {
    name: 'sort by an array',
    documents: [
      { _id: 1, a: [5, 9] },
      { _id: 2, a: 6 },
      { _id: 3, a: [] },
      { _id: 4 },
      { _id: 5, a: null },
      { _id: 6, a: 'x' },
    ],
    find: { filter: {}, sort: { a: 1, _id: 1 }, projection: { _id: 1 } },
    gives: [3, 4, 5, 1, 2, 6].map((_id) => ({ _id })),
    order: 'sorted',
  },
]

t.test('projections and sorts give the documents of the manual', (t) => runExamples(t, projections))
