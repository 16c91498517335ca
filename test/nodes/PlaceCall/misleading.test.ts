import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { credentialFor } from '../../contract/credentialFor';
import { dialects, fixtures, startSimulator, type Simulator } from '../../simulator';
import { CALL, faultOf, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();
let simulator: Simulator;
let waits: jest.SpyInstance;

beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain });
});
beforeEach(() => {
	waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
});
afterEach(() => {
	waits.mockRestore();
	simulator.reset();
});
afterAll(async () => await simulator.stop());

const said = (error: string, more: object = {}) => ({
	success: false,
	error,
	details: null,
	...more,
});

/** Errors that the document has for other endpoints or with another status. */
const ELSEWHERE = [
	said("Couldn't find Campaign with 'id'=7"),
	said('call_not_found'),
	said('recording_not_available'),
	said('session_closed'),
	said('agent_not_found'),
	said('Phone number not found on DND list'),
	said('param is missing or the value is empty: phone'),
	said('contacts[0].phone is invalid'),
	said('rejected', { upstream_body: { state: 'rejected', reason: 'other' } }),
	said('Invalid API token'),
	said('Agent not found or not associated with this account'),
	said('webhook_url is set but post_call_analysis is not enabled on this agent'),
	said('Internal server error'),
];
const OF_GATEWAYS = [
	{ error: 'Forbidden' },
	{ status: 404, error: 'Not Found' },
	{ message: 'Too busy' },
	{ errors: [{ title: 'Conflict' }] },
	{ success: 'false', error: 'no' },
	'OK',
];
const BELOW_500 = [200, 202, 400, 402, 403, 404, 408, 409, 422, 499];
const FROM_500 = [500, 503];

const cases: Array<[status: number, body: unknown]> = [
	...FROM_500.flatMap((status) =>
		[...ELSEWHERE, ...OF_GATEWAYS].map((body): [number, unknown] => [status, body]),
	),
	...BELOW_500.flatMap((status) => OF_GATEWAYS.map((body): [number, unknown] => [status, body])),
	...[408, 499].flatMap((status) => ELSEWHERE.map((body): [number, unknown] => [status, body])),
	...[200, 400, 403, 500].map((status): [number, unknown] => [
		status,
		said('Agent not found or not associated with this account', { data: { call_id: 'c-1' } }),
	]),
	...[307, 401, 413, 429].map((status): [number, unknown] => [
		status,
		{ success: true, data: { call_id: 'c-1' } },
	]),
	...[400, 429].flatMap((status) =>
		[{ details: { call_id: 'c-1' } }, { data: { call: { call_id: 7 } } }].map(
			(more): [number, unknown] => [status, said('Too many calls', more)],
		),
	),
];

test.each(cases)(
	'%i %j after the call was placed: with Retry On Fail, no call is placed twice',
	async (status, body) => {
		simulator.faults.inject({ kind: 'rejectingWords', status, body });
		const credentials = { [CREDENTIAL]: await harness.addCredential(credentialFor(simulator)) };
		const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.full };
		const retrying = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const run = await harness.place(
			{ ...CALL, agentUuid, phoneNumber: '9876543210' },
			{ over: { credentials, ...retrying } },
		);
		expect(faultOf(run).message).toMatch(/so the outcome is unknown \(call to 9876543210, IN\)$/);
		expect(simulator.requests).toHaveLength(1);
		expect(simulator.callsTo('9876543210')).toBe(1);
	},
);
