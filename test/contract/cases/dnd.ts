import { requestOf } from '../../simulator/dialects/profile';
import type { INodeParameters } from 'n8n-workflow';
import { fixtures, type Dialect, type Simulator } from '../../simulator';
import { agent, type ContractCase } from '../contractCase';

const { agents, dndPhone } = fixtures;
const NEW = '+919000000009';

/** With the number in the form that the service accepts, which isn't documented. */
const of =
	(operation: string, phone: string, more: INodeParameters = {}) =>
	({ dnd }: Dialect): INodeParameters => ({
		operation,
		...agent(),
		phone: dnd.phoneForms === 'digits' ? phone.slice(1) : phone,
		...more,
	});

const listOf = ({ state }: Simulator, phone: string) =>
	state.dnd.filter((entry) => entry.agentUuid === agents.full && entry.phone === phone);

const entry = (phone: string) => ({
	id: expect.any(Number),
	agent_uuid: agents.full,
	phone,
	reason: expect.any(String),
	created_at: expect.any(String),
});

/** Formats of the number that is on the list. */
const FORMATS = [dndPhone, '98123 45678', '+91 (98123) 456-78', '09812345678'];

const METHODS = { add: 'POST', check: 'GET', getMany: 'GET', remove: 'DELETE' };

export const dnd: ContractCase[] = [
	{
		title: 'adds a number with its reason',
		parameters: of('add', NEW, { reason: 'asked on the phone' }),
		requests: ['POST /v1/dnd_numbers'],
		verify: (simulator) =>
			expect(listOf(simulator, NEW)).toMatchObject([{ reason: 'asked on the phone' }]),
	},
	...Object.entries(METHODS).map(
		([operation, method]): ContractCase => ({
			title: `${operation}: stops if the agent belongs to another account, at any HTTP status`,
			parameters: of(operation, NEW, agent(agents.foreign)),
			requests: [`${method} /v1/dnd_numbers`],
			rejection: 'The account of this API token has no agent with this ID',
		}),
	),
	{
		title: 'removes a number',
		parameters: of('remove', dndPhone),
		requests: ['DELETE /v1/dnd_numbers'],
		output: [{ deleted: true, was_listed: true, message: expect.any(String) }],
		verify: (simulator) => expect(listOf(simulator, dndPhone)).toEqual([]),
	},
	{
		title: 'stops if a number to remove is not on the list, at any HTTP status',
		parameters: of('remove', NEW),
		requests: ['DELETE /v1/dnd_numbers'],
		rejection: "The number isn't on the do-not-disturb list of this agent",
	},
	{
		title: 'treats a number that is not on the list as removed if Ignore If Not Listed is on',
		parameters: of('remove', NEW, { treatNotListedAsDone: true }),
		requests: ['DELETE /v1/dnd_numbers'],
		output: [{ deleted: true, was_listed: false, message: 'Phone number not found on DND list' }],
	},
	{
		title: 'stops if the service finds no phone number in the request, at any HTTP status',
		profile: ({ dnd: { remove } }) => {
			const place = remove.phone.in === 'query' ? 'body' : 'query';
			return { 'dnd.remove': requestOf({ ...remove, phone: { ...remove.phone, in: place } }) };
		},
		parameters: of('remove', dndPhone),
		requests: ['DELETE /v1/dnd_numbers'],
		rejection: 'The service found no usable phone number in the request',
		verify: (simulator) => expect(listOf(simulator, dndPhone)).toHaveLength(1),
	},
	{
		title: 'reads every page of the list',
		parameters: { operation: 'getMany', ...agent(), returnAll: true },
		requests: ['GET /v1/dnd_numbers', 'GET /v1/dnd_numbers'],
		output: [
			entry(dndPhone),
			...Array.from({ length: 120 }, (_, index) =>
				entry(`+91700000${String(index).padStart(4, '0')}`),
			),
		],
		verify: ({ requests, dialect }) =>
			expect(requests.map(({ query }) => query[dialect.dnd.list.perPage])).toEqual(['100', '100']),
	},
	{
		title: 'reads up to the limit, filtered by digits',
		parameters: { operation: 'getMany', ...agent(), limit: 3, phoneContains: '700000' },
		requests: ['GET /v1/dnd_numbers'],
		output: ['+917000000000', '+917000000001', '+917000000002'].map(entry),
	},
	{
		title: 'finds a single number on the list',
		parameters: { operation: 'check', ...agent(), phone: FORMATS[1] },
		requests: ['GET /v1/dnd_numbers'],
		output: [{ on_dnd: true, dnd_phone: dndPhone }],
	},
	{
		title: 'checks many rows against the whole list, which it reads once',
		parameters: { operation: 'check', ...agent(), phone: '={{ $json.phone }}' },
		items: [...FORMATS, NEW, '+917000000119'].map((phone, row) => ({ row, phone })),
		requests: Array<string>(2).fill('GET /v1/dnd_numbers'),
		output: [
			...FORMATS.map((phone, row) => ({ row, phone, on_dnd: true, dnd_phone: dndPhone })),
			{ row: FORMATS.length, phone: NEW, on_dnd: false, dnd_reason: null },
			{ on_dnd: true, dnd_phone: '+917000000119', dnd_reason: expect.any(String) },
		],
	},
];
