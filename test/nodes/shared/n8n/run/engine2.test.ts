/** What nodes do on Engine 2.0 of n8n. `npm run test:engine2` runs them in a real one. */
import type { INodeExecutionData } from 'n8n-workflow';
import { engineHarness, runOnEngine2, service } from '../../../../engine';
import { BODY, CALL, callsEndpoint, askBy, waitBy } from '../../../PlaceCall/placeCallHarness';
import { accepted, PATH, pushNode } from '../../../PushCampaignContacts/pushHarness';

const harness = engineHarness();
const rows = (count: number): INodeExecutionData[] =>
	Array.from({ length: count }, (_, index) => ({ json: { phone: String(9_000_000_000 + index) } }));
const placeCall = (parameters: object, onError?: 'continueRegularOutput') =>
	harness.node('placeCall', {
		parameters: { ...CALL, phoneNumber: '={{ $json.phone }}', ...parameters },
		...(onError && { onError }),
	});
const run = async (node: ReturnType<typeof placeCall>, count: number) =>
	await runOnEngine2(harness.credentials, node, rows(count));
const faultOf = async (node: ReturnType<typeof placeCall>, count: number): Promise<string> =>
	await run(node, count).then(
		() => 'it succeeded',
		(error: unknown) => (error instanceof Error ? error.message : String(error)),
	);

const CANNOT_WAIT =
	"Engine 2.0 of n8n can't wait for the completion webhook, so no call was placed";
const HOW_TO_WAIT =
	"Remove engineType from the settings of this workflow, or set 'Wait for Completion' to 'By Reading the Call'.";
const question = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };

describe.each([
	['Wait for Completion by webhook', waitBy('webhook')],
	['Ask and Wait', question],
	['Ask and Wait by webhook', { ...question, ...askBy('webhook') }],
])('%s', (_name, parameters) => {
	it('places no call, and the message has everything, because n8n shows nothing else', async () => {
		expect(await faultOf(placeCall(parameters), 2)).toBe(`${CANNOT_WAIT}. ${HOW_TO_WAIT}`);
	});

	it('fails each item with Continue On Fail', async () => {
		const [items] = await run(placeCall(parameters, 'continueRegularOutput'), 2);
		expect(items).toEqual(
			[0, 1].map((item) => ({
				json: {
					error: `${CANNOT_WAIT} [item ${item}]`,
					message: HOW_TO_WAIT,
					details: { item, outcome: 'not_sent' },
				},
				pairedItem: { item },
			})),
		);
	});
});

it('an error before the first item fails each item with Continue On Fail, and does not pass the input on', async () => {
	const developerSettings = { concurrency: '={{ $("Missing").first().json.count }}' };
	const [items] = await run(placeCall({ developerSettings }, 'continueRegularOutput'), 2);
	expect(items).toMatchObject([0, 1].map((item) => ({ json: { details: { item } } })));
});

it('the message of a stopped node lists the completed items, and offers no retry', async () => {
	callsEndpoint().reply(200, { success: true, data: { call_id: 'call-1' } });
	callsEndpoint().reply(500, {});
	const message = await faultOf(placeCall({}), 2);
	expect(message).toContain('1 call was already placed in this run (item 0). In a new execution,');
	expect(message).not.toContain('retry');
});

it('the message of a stopped push says what happened to the rows, and offers no retry', async () => {
	const push = pushNode(harness, { developerSettings: { contactsPerRequest: 1 } });
	service().post(PATH).reply(200, accepted(1));
	service().post(PATH).reply(500, {});
	const message = await faultOf(push, 3);
	expect(message).toContain('Pushed: 1 row (row 1');
	expect(message).toContain('Unknown: 1 row (row 2)');
	expect(message).not.toContain('retry');
});

it('sends each item once, without any record of n8n', async () => {
	const sent: unknown[] = [];
	callsEndpoint()
		.times(2)
		.reply(200, (_uri, body) => ({ success: true, data: { call_id: `call-${sent.push(body)}` } }));
	const [items] = await run(placeCall({}), 2);
	expect(items?.map(({ json }) => json.call_id)).toEqual(['call-1', 'call-2']);
	expect(sent).toEqual(rows(2).map(({ json }) => ({ ...BODY, phone_number: json.phone })));
});

describe('a scheduled time', () => {
	const at = (scheduledAt: string) => placeCall({ when: 'dateTime', scheduledAt });

	it('that was picked places no call, because its time zone is unknown', async () => {
		expect(await faultOf(at('2030-01-31T18:30:00'), 1)).toContain(
			`'Date and Time' needs a UTC offset on Engine 2.0 of n8n, where nodes don't know the workflow's time zone (got "2030-01-31T18:30:00"). Use an expression with the offset, such as 2027-01-31T18:30:00+05:30.`,
		);
	});

	it.each([
		['with an offset', '={{ "2030-01-31T18:30:00+05:30" }}', '2030-01-31T18:30:00+05:30'],
		['as a date', '={{ new Date("2030-01-31T13:00:00Z") }}', '2030-01-31T13:00:00+00:00'],
	])('%s is sent', async (_name, value, sent) => {
		let body: unknown;
		callsEndpoint().reply(200, (_uri, sentBody) => {
			body = sentBody;
			return { success: true, data: { call_id: 'call-1' } };
		});
		await run(at(value), 1);
		expect(body).toMatchObject({ scheduled_at: sent });
	});
});
