import type { ICredentialDataDecryptedObject, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../../../contract/credentialFor';
import { mockTime, output, service } from '../../../engine';
import { dialects, fixtures, startSimulator, type Simulator } from '../../../simulator';
import {
	acceptCalls,
	CALL_LIST as MAPPING,
	CONTINUE,
	faultOf,
	placeCallHarness,
} from '../placeCallHarness';

const harness = placeCallHarness();
const PHONE = '9876543210';
const OTHER = '9876543211';
const options = (limit: INodeParameters = {}): INodeParameters => ({
	options: { callLimit: { limit: { countElsewhere: true, ...limit } } },
});

let now: number;
const itIs = (iso: string) => (now = Date.parse(iso));
beforeEach(() => {
	itIs('2026-11-20T12:00:00+05:30');
	mockTime(() => now);
	jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
});
afterEach(() => jest.restoreAllMocks());

const listed = (created_at: unknown, phone_number: string | null = `+91${PHONE}`) => ({
	call_id: `listed ${String(created_at)}`,
	phone_number,
	created_at,
});
const list = (phone = PHONE) =>
	service()
		.get('/v1/calls')
		.query({ ph: `+91${phone}` });
const shows = (calls: object[], phone = PHONE) =>
	list(phone).reply(200, { success: true, data: calls });
const isPlaced = (run: IRun) => output(run, 'Node').map(({ json }) => json.placed);

async function call(
	phones: string[] = [PHONE],
	limit: INodeParameters = {},
	mapping: ICredentialDataDecryptedObject = MAPPING,
	over: object = {},
): Promise<IRun> {
	return await harness.place(
		{ phoneNumber: '={{ $json.phone }}', ...options(limit) },
		{
			items: phones.map((phone) => ({ phone })),
			over: { credentials: { [CREDENTIAL]: await harness.addCredential(mapping) }, ...over },
			settings: { timezone: 'Asia/Kolkata' },
		},
	);
}

describe('Count Other Calls', () => {
	it('counts the calls of the period in the call list', async () => {
		shows([listed('2026-11-19T12:00:01+05:30'), listed('2026-11-01T12:00:00+05:30')]);
		const [item] = output(await call(), 'Node');
		expect(item?.json).toMatchObject({
			placed: false,
			last_call_at: '2026-11-19T12:00:01+05:30',
			next_call_possible_at: '2026-11-20T12:00:01+05:30',
		});
		shows([listed('2026-11-19T12:00:00+05:30')]);
		acceptCalls(1);
		expect(isPlaced(await call())).toEqual([true]);
	});

	it('does not count other numbers that the filter also matches', async () => {
		shows([listed('2026-11-20T11:00:00+05:30', `+1${PHONE}`)]);
		acceptCalls(1);
		expect(isPlaced(await call())).toEqual([true]);
	});

	it('counts a call whose number is not clear', async () => {
		shows([listed('2026-11-20T11:00:00+05:30', null)]);
		expect(isPlaced(await call())).toEqual([false]);
	});

	it('counts the calls of this execution together with the list, which it reads once for each number', async () => {
		shows([listed('2026-11-20T11:00:00+05:30')]);
		shows([], OTHER);
		acceptCalls(2);
		const phones = [PHONE, OTHER, `+91${PHONE}`];
		expect(isPlaced(await call(phones, { maximumCalls: 2 }))).toEqual([true, true, false]);
	});

	it('does not count a call of this node twice', async () => {
		acceptCalls(2);
		shows([]);
		expect(isPlaced(await call([PHONE], { maximumCalls: 2 }))).toEqual([true]);
		itIs('2026-11-20T12:05:00+05:30');
		const calls = [listed('2026-11-20T12:00:01+05:30')];
		shows(calls);
		expect(isPlaced(await call([PHONE], { maximumCalls: 2 }))).toEqual([true]);
		itIs('2026-11-20T12:10:00+05:30');
		shows([...calls, listed('2026-11-20T12:05:01+05:30')]);
		expect(isPlaced(await call([PHONE], { maximumCalls: 2 }))).toEqual([false]);
	});

	it('counts a call of this node that the list does not show yet', async () => {
		acceptCalls(1);
		shows([]);
		await call();
		shows([]);
		expect(isPlaced(await call())).toEqual([false]);
	});
});

describe('nobody is called', () => {
	it('if the credential has no filter for phone numbers', async () => {
		const { callListPhoneName: _, ...without } = MAPPING;
		const { message, description } = faultOf(await call([PHONE, OTHER], {}, without));
		expect(message).toBe('The credential lacks settings for the call list [item 0]');
		expect(description).toContain("fill in 'Phone Filter Name'");
	});

	it('if a list can not be read', async () => {
		shows([], OTHER);
		list().times(4).reply(500, {});
		const { message } = faultOf(await call([OTHER, PHONE]));
		expect(message).toContain(
			"The calls to +919876543210 can't be read completely, so no call was placed.",
		);
	});

	it('if a call in the list has no time, also with On Error set to continue', async () => {
		shows([listed('2026-11-20 11:00')]);
		const run = await call([PHONE], {}, MAPPING, CONTINUE);
		expect(output(run, 'Node')[0]?.json.error).toContain(
			'A call to +919876543210 in the call list has no created_at with a UTC offset (got "2026-11-20 11:00")',
		);
	});

	it('if the number has no clear international format', async () => {
		const run = await harness.place({
			countryCode: 'DE',
			phoneNumber: '4930123456',
			...options(),
		});
		expect(faultOf(run).message).toBe(
			"'Count Other Calls' needs a 'Phone Number' with a clear international format",
		);
	});
});

describe.each(Object.values(dialects))('the simulated service, dialect $name', (dialect) => {
	let simulator: Simulator;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	afterAll(async () => {
		await simulator.stop();
	});

	it('does not call a person whom another workflow called', async () => {
		now = Date.now();
		const credentials = { [CREDENTIAL]: await harness.addCredential(credentialFor(simulator)) };
		const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.full };
		const place = async (parameters: INodeParameters) =>
			await harness.place(
				{ agentUuid, phoneNumber: '9876500123', ...parameters },
				{ over: { credentials } },
			);
		await place({});
		expect(isPlaced(await place(options()))).toEqual([false]);
		expect(simulator.callsTo('9876500123')).toBe(1);
	});
});
