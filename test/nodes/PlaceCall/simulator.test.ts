import { inspect } from 'node:util';
import type { IDataObject, INodeParameters, IRun } from 'n8n-workflow';
import schema from '../../../nodes/PlaceCall/__schema__/v1.0.0/call/place.json';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { credentialFor } from '../../contract/credentialFor';
import { itemsOfDocument } from '../../document/document';
import { output, searchList } from '../../engine';
import { dialects, fixtures, type Fault } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { isObject, type JsonObject } from '../../simulator/json';
import { faultOf, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();
const { agents } = fixtures;
const PEOPLE = ['9876543210', '9876543211', '9876543212'];
const items = PEOPLE.map((phone) => ({ phone }));

/** Every field of a call request, with the members of its overrides and of a data point. */
const DOCUMENTED_FIELDS = itemsOfDocument()
	.filter(({ section }) => section.startsWith('Call request'))
	.map(({ name }) => name);

/** Documented names: nested fields have a path, such as `retry_config.enabled`. */
function fieldsIn(body: JsonObject): string[] {
	const { call_config_overrides: overrides, data_extraction: points } = body;
	const { retry_config: retry, ...others } = isObject(overrides) ? overrides : {};
	const [point]: unknown[] = Array.isArray(points) ? points : [];
	return [
		...[body, others, point].flatMap((part) => (isObject(part) ? Object.keys(part) : [])),
		...Object.keys(isObject(retry) ? retry : {}).map((name) => `retry_config.${name}`),
	];
}

describe.each(Object.values(dialects))('the simulated service, dialect $name', (dialect) => {
	const simulator = useSimulator({ dialect });
	let waits: jest.SpyInstance;

	beforeEach(() => {
		waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
	});
	afterEach(() => waits.mockRestore());

	const agent = (value: string): INodeParameters => ({
		agentUuid: { __rl: true, mode: 'id', value },
	});

	async function credentials() {
		return { [CREDENTIAL]: await harness.addCredential(credentialFor(simulator())) };
	}

	async function place(parameters: INodeParameters, over: IDataObject = {}): Promise<IRun> {
		const run = await harness.place(
			{ ...agent(agents.full), phoneNumber: '={{ $json.phone }}', ...parameters },
			{ items, over: { credentials: await credentials(), ...over } },
		);
		expect(inspect(run, { depth: Infinity })).not.toContain(simulator().token);
		return run;
	}

	it('accepts a call with every field', async () => {
		const run = await place({
			personName: 'Asha Rao',
			when: 'dateTime',
			scheduledAt: '2099-11-20T10:00:00',
			additionalDataFields: { fields: [{ name: 'plan', value: 'Gold' }] },
			initialGreeting: 'Hello!',
			dataExtraction: {
				points: [{ description: 'Which day?', key: 'day', required: true, outputFormat: 'a day' }],
			},
			callConfigOverrides: {
				enableCallback: false,
				maxCallDurationSeconds: 1800,
				retryEnabled: true,
				retryMaxAttempts: 10,
				retryIntervalMinutes: 1440,
			},
			options: {
				systemPrompt: 'Be kind.',
				webhookUrl: 'http://127.0.0.1:9/call-completed',
			},
		});
		const calls = output(run, 'Node').map(({ json }) => json);
		expect(calls).toHaveLength(3);
		expect(calls[0]?.call_id).toEqual(expect.any(String));
		expect(calls[0]?.scheduled_at_epoch).toEqual(expect.any(Number));
		expect(Object.keys(schema.properties)).toEqual(
			expect.arrayContaining(Object.keys(calls[0] ?? {})),
		);
		expect(
			simulator()
				.placedCalls()
				.map(({ callId }) => callId),
		).toEqual(calls.map((call) => call.call_id));
		for (const { body } of simulator().requests) {
			const fields = fieldsIn(isObject(body) ? body : {});
			expect(fields.sort()).toEqual([...DOCUMENTED_FIELDS].sort());
		}
	});

	it.each<Fault & { placed: number; sent: number }>([
		{ kind: 'resetBefore', placed: 2, sent: 3 },
		{ kind: 'resetMiddle', placed: 3, sent: 3 },
		{ kind: 'resetAfter', placed: 3, sent: 3 },
		{ kind: 'status', status: 500, placed: 2, sent: 3 },
		{ kind: 'status', status: 503, afterHandling: true, placed: 3, sent: 3 },
		{ kind: 'html', placed: 2, sent: 3 },
		{ kind: 'html', afterHandling: true, placed: 3, sent: 3 },
		{ kind: 'truncatedJson', placed: 3, sent: 3 },
		{ kind: 'tooManyRequests', retryAfterSeconds: 3, placed: 3, sent: 4 },
		{ kind: 'successFalseAt200', placed: 2, sent: 3 },
		{ kind: 'redirect', body: 'http://127.0.0.1:9/v1/call', placed: 2, sent: 3 },
	])(
		'nobody is called twice: $kind $status, after it took effect: $afterHandling',
		async ({ placed, sent, ...fault }) => {
			simulator().faults.inject({ ...fault, times: 1, skip: 1, match: { path: '/v1/call' } });
			const run = await place({}, { onError: 'continueRegularOutput' });
			const results = output(run, 'Node').map(({ json }) => json);
			expect(results).toHaveLength(3);
			expect(results[0]?.call_id).toEqual(expect.any(String));
			expect(results[2]?.call_id).toEqual(expect.any(String));
			expect(PEOPLE.map((phone) => simulator().callsTo(phone) <= 1)).toEqual([true, true, true]);
			expect(simulator().placedCalls()).toHaveLength(placed);
			expect(simulator().requests).toHaveLength(sent);
		},
	);

	it('another attempt of the node places no call twice', async () => {
		simulator().faults.inject({ kind: 'resetAfter', times: 1, skip: 1 });
		const retry = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const { message } = faultOf(await place({}, retry));
		expect(message).toContain('the outcome is unknown (call to 9876543211');
		expect(PEOPLE.map((phone) => simulator().callsTo(phone))).toEqual([1, 1, 0]);
	});

	it('the Agent list shows the active agents of the account that match the filter', async () => {
		const node = harness.placeCallNode({}, { credentials: await credentials() });
		const all = await searchList(harness.credentials, node, 'searchAgents');
		const values = all.results.map(({ value }) => value);
		expect(values).toContain(agents.full);
		expect(values).not.toContain(agents.foreign);
		expect(values).not.toContain(agents.inactive);
		const some = await searchList(harness.credentials, node, 'searchAgents', 'SUPPORT');
		expect(some.results.map(({ value }) => value)).toEqual([agents.us]);
	});
});
