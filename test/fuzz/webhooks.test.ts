import fc from 'fast-check';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { engineHarness, skipSleeps, webhookTrigger } from '../engine';
import { dialects, fixtures } from '../simulator';
import { useSimulator } from '../simulator/testing/useSimulator';
import { corrupt, corruptions } from './corruption';
import { MANY_RUNS, printCounts, TIMEOUT_MS } from './runs';

const { calls } = fixtures;
/** An ended call, an unknown call, and an invalid ID. */
const CALL_IDS = [calls.finished, '6f1c2a34-0000-4000-8000-999999999999', 'not an id'];

const harness = engineHarness();
const simulator = useSimulator({ dialect: dialects.plain });

// Repeated reads and their time limits take no time.
beforeEach(skipSleeps);
afterEach(() => jest.restoreAllMocks());
const bodies = fc
	.record({ callId: fc.constantFrom(...CALL_IDS), harm: fc.option(corruptions) })
	.map(({ callId, harm }) => {
		const original = { call_id: callId, status: 'failed', summary: 'made up', retry_count: 99 };
		const bytes = Buffer.from(JSON.stringify(original));
		return harm === null ? bytes : corrupt(bytes, harm);
	});

test(
	'Call Completed Trigger passes on only the record of the service, whatever is delivered',
	async () => {
		const counts = { deliveries: 0, executions: 0, passed_on: 0 };
		const { baseUrl, token: apiToken } = simulator();
		const credentials = { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) };
		const parameters = { options: { allowDuplicates: true } };
		const node = harness.node('callCompletedTrigger', { parameters, credentials });
		const { deliver } = webhookTrigger(harness.credentials, node);
		const property = fc.asyncProperty(bodies, async (rawBody) => {
			const { response, execution, items } = await deliver({ rawBody, body: undefined });
			counts.deliveries++;
			counts.executions += Number(execution !== undefined);
			counts.passed_on += items.length;
			expect(execution?.data.resultData.error).toBeUndefined();
			expect(items.every(({ call_id: callId }) => callId === calls.finished)).toBe(true);
			expect(items.filter(({ summary }) => summary === 'made up')).toEqual([]);
			expect([200, 400]).toContain(response.statusCode);
			expect(JSON.stringify(response.body ?? '').length).toBeLessThan(300);
			expect(JSON.stringify(response.body ?? '')).not.toMatch(/made up|<|polluted/);
			expect(Object.keys(Object.prototype)).toEqual([]);
		});
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(counts.passed_on).toBeGreaterThan(0);
		printCounts('Completions by strangers', counts);
	},
	TIMEOUT_MS,
);

test(
	'Chat Delivery Trigger passes everything on except an empty body',
	async () => {
		const counts = { deliveries: 0, executions: 0 };
		const node = harness.node('chatDeliveryTrigger');
		const { deliver } = webhookTrigger(harness.credentials, node);
		const property = fc.asyncProperty(bodies, async (rawBody) => {
			const { response, items } = await deliver({ rawBody, body: undefined });
			counts.deliveries++;
			counts.executions += items.length;
			expect(response.statusCode).toBe(items.length === 1 ? 200 : 400);
			expect(Object.keys(Object.prototype)).toEqual([]);
		});
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(counts.executions).toBeGreaterThan(0);
		printCounts('Deliveries by strangers', counts);
	},
	TIMEOUT_MS,
);
