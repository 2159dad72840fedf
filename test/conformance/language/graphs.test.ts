/**
 * $graphLookup, with the examples of the manual's page: both collections unsharded, and both
 * sharded.
 */
import { Long } from 'mongodb'
import t from 'tap'
import { runExamples, type Example } from './support/language.js'

const long = (value: number): Long => Long.fromNumber(value)

const employees = [
  { _id: 1, name: 'Dev' },
  { _id: 2, name: 'Eliot', reportsTo: 'Dev' },
  { _id: 3, name: 'Ron', reportsTo: 'Eliot' },
  { _id: 4, name: 'Andrew', reportsTo: 'Eliot' },
  { _id: 5, name: 'Asya', reportsTo: 'Ron' },
  { _id: 6, name: 'Dan', reportsTo: 'Andrew' },
]
const bosses = (...ids: readonly number[]): object[] => ids.map((id) => employees[id - 1]!)

const airports = [
  { _id: 0, airport: 'JFK', connects: ['BOS', 'ORD'] },
  { _id: 1, airport: 'BOS', connects: ['JFK', 'PWM'] },
  { _id: 2, airport: 'ORD', connects: ['JFK'] },
  { _id: 3, airport: 'PWM', connects: ['BOS', 'LHR'] },
  { _id: 4, airport: 'LHR', connects: ['PWM'] },
]
const flights = (...hops: readonly (readonly [id: number, hops: number])[]): object[] =>
  hops.map(([id, hop]) => ({ ...airports[id], hops: long(hop) }))

const graphs: readonly Example[] = [
  {
    name: '$graphLookup within one collection',
    documents: employees,
    others: { employees },
    aggregate: [
      {
        $graphLookup: {
          from: 'employees',
          startWith: '$reportsTo',
          connectFromField: 'reportsTo',
          connectToField: 'name',
          as: 'chain',
        },
      },
    ],
    gives: [
      { ...employees[0], chain: [] },
      { ...employees[1], chain: bosses(1) },
      { ...employees[2], chain: bosses(1, 2) },
      { ...employees[3], chain: bosses(1, 2) },
      { ...employees[4], chain: bosses(1, 2, 3) },
      { ...employees[5], chain: bosses(1, 2, 4) },
    ],
    sets: ['chain'],
  },
  {
    name: '$graphLookup with depths',
    documents: [
      { _id: 1, name: 'Dev', nearest: 'JFK' },
      { _id: 3, name: 'Jeff', nearest: 'BOS' },
    ],
    others: { airports },
    aggregate: [
      {
        $graphLookup: {
          from: 'airports',
          startWith: '$nearest',
          connectFromField: 'connects',
          connectToField: 'airport',
          maxDepth: 2,
          depthField: 'hops',
          as: 'to',
        },
      },
    ],
    gives: [
      { _id: 1, name: 'Dev', nearest: 'JFK', to: flights([3, 2], [2, 1], [1, 1], [0, 0]) },
      { _id: 3, name: 'Jeff', nearest: 'BOS', to: flights([2, 2], [3, 1], [4, 2], [0, 1], [1, 0]) },
    ],
    sets: ['to'],
  },
  {
    name: '$graphLookup restricted by a filter',
    documents: [{ _id: 1, name: 'Tanya', friends: ['Shirley', 'Terry', 'Carole'], hobbies: ['tennis', 'golf'] }],
    others: {
      people: [
        { _id: 1, name: 'Tanya', friends: ['Shirley', 'Terry', 'Carole'], hobbies: ['tennis', 'golf'] },
        { _id: 2, name: 'Carole', friends: ['Joseph', 'Tanya', 'Terry'], hobbies: ['archery', 'golf'] },
        { _id: 3, name: 'Terry', friends: ['Tanya', 'Carole', 'Angelo'], hobbies: ['knitting'] },
        { _id: 4, name: 'Joseph', friends: ['Angelo', 'Carole'], hobbies: ['golf'] },
        { _id: 5, name: 'Angelo', friends: ['Terry', 'Shirley', 'Joseph'], hobbies: ['travel', 'golf'] },
        { _id: 6, name: 'Shirley', friends: ['Angelo', 'Tanya', 'Carole'], hobbies: ['frisbee'] },
      ],
    },
    aggregate: [
      {
        $graphLookup: {
          from: 'people',
          startWith: '$friends',
          connectFromField: 'friends',
          connectToField: 'name',
          as: 'golfers',
          restrictSearchWithMatch: { hobbies: 'golf' },
        },
      },
      { $project: { name: 1, golfers: '$golfers.name' } },
    ],
    gives: [{ _id: 1, name: 'Tanya', golfers: ['Joseph', 'Tanya', 'Angelo', 'Carole'] }],
    sets: ['golfers'],
  },
]

t.test('$graphLookup gives the documents of the manual', (t) => runExamples(t, graphs))
