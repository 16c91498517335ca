/** A push that stops in the middle: what it reports, and what later attempts send. */
import countBy from 'lodash/countBy';
import type { INode, INodeExecutionData, IRun } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	engineHarness,
	oneNodeWorkflow,
	output,
	retryFailed,
	runWorkflow,
	service,
	startNode,
	stoppedResult,
	storedCredentials,
} from '../../engine';
import {
	accepted,
	ARCHIVED,
	respondWith,
	respondInto,
	breaking,
	goOn,
	inTwos,
	ok,
	pushNode,
	runPush,
	jsonOf,
	manyRows,
	phone,
	phonesOf,
	rejection,
	type NodeParameters,
	WAITING,
} from './pushHarness';

const harness = engineHarness();
const MAY_BE_SENT =
	"Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.";
const OK = ok(2);
const LAST = ok(1);
const tryAgain = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };

const push = async (input: INodeExecutionData[], over: Partial<INode> = {}) =>
	await runPush(input, inTwos, over);
const statusesOf = (rejected: INodeExecutionData[]) =>
	countBy(rejected, ({ json }) => json.rejection_status);

/** A rejection of a request that took effect. */
const withEffect = (data: JsonObject) => ({ ...rejection('contacts[2] is invalid'), data });

describe.each<[string, () => JsonObject[]]>([
	['the connection breaks', () => breaking('ECONNRESET', respondWith(OK))],
	['the request times out', () => breaking('ETIMEDOUT', respondWith(OK))],
	['the service returns 500', () => respondWith(OK, [500, rejection('Internal server error')])],
	['a gateway returns 502', () => respondWith(OK, [502, '<html>Bad gateway</html>'])],
	['the response is cut off', () => respondWith(OK, [200, '{"success":true,"data":{"campa'])],
	['a web page is returned', () => respondWith(OK, [200, '<!doctype html><title>Hi</title>'])],
	['a rejection has a list', () => respondWith(OK, [400, withEffect({ campaign_upload_id: 7 })])],
	['a 429 has a count', () => respondWith(OK, [429, withEffect({ contacts_accepted: 2 })])],
])('if the outcome of the second request is unknown, because %s', (_fault, arm) => {
	test('it is not sent again, and the error reports every row', async () => {
		const bodies = arm();
		const { error } = await push([{ json: { phone: '12' } }, ...manyRows(5)]);
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 2, 3].map(phone));
		expect(error).toMatchObject({
			message: expect.stringMatching(/the outcome is unknown$/),
			description: expect.stringMatching(
				/^The request wasn't sent again.*\n6 rows: 2 pushed, 1 rejected, 2 unknown, 1 not sent\.\nPushed: 2 rows \(rows 2 to 3, contact list 501\)\. Leave them out.*\nUnknown: 2 rows \(rows 4 to 5\)\. They may or may not be in the campaign\.\nNot sent: 1 row \(row 6\)\. To send only these rows, retry.*\nRejected: 1 row \(row 1\)\. "12" has 2 digits.*\nRows are counted in the input\..*\nBefore you push unknown rows again, look.*$/,
			),
			context: {
				descriptionTemplate: String(error?.description).replaceAll('\n', '<br>'),
			},
		});
		// It's about the whole push.
		expect(error?.context.itemIndex).toBeUndefined();
	});

	test('with Continue, each row is returned once', async () => {
		const bodies = arm();
		const { pushed, rejected, error, hints } = await push(manyRows(5), goOn);
		expect([error, bodies.length, pushed.length]).toEqual([undefined, 2, 1]);
		expect(pushed[0]?.json.totals).toMatchObject({ pushed: 2, unknown: 2, not_sent: 1 });
		expect(statusesOf(rejected)).toEqual({ unknown: 2, not_sent: 1 });
		expect(hints).toEqual([
			`5 rows: 2 pushed, 2 unknown, 1 not sent. ${WAITING}`,
			expect.stringMatching(/outcome is unknown.*wasn't sent again/),
			expect.stringMatching(/look at the campaign's contact lists with Campaign Status/),
		]);
		expect(jsonOf(rejected)).toMatchObject([
			{ phone: phone(2), rejection_reason: expect.stringMatching(/The request wasn't sent again/) },
			{ phone: phone(3) },
			{ phone: phone(4), rejection_reason: expect.stringMatching(/push this row again\.$/) },
		]);
	});

	test('Retry On Fail sends only what was not sent', async () => {
		const bodies = respondInto(arm(), LAST);
		const { error } = await push(manyRows(5), tryAgain);
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 2, 3, 4].map(phone));
		expect(error).toHaveProperty(
			'description',
			expect.stringMatching(/\nPushed: 3 rows.*\nUnknown: 2 rows \(rows 3 to 4\)/),
		);
	});
});

test('text from a row is never HTML in the error and the hints', async () => {
	const rows = [{ json: { phone: '<img src=x>' } }, ...manyRows(1)];
	breaking('ECONNRESET', []);
	const stopped = await push(rows);
	expect(stopped.error).toMatchObject({
		description: expect.stringMatching(/Rejected: 1 row \(row 1\)\. "‹img src=x>"/),
		context: { descriptionTemplate: expect.not.stringMatching(/<(?!br>)/) },
	});
	respondWith([200, { ...accepted(1, { warnings: ['<b>', { code: 'x' }] }), message: '<b>' }]);
	const { hints } = await push(rows);
	expect(hints.join()).not.toMatch(/<[a-z]/);
	expect(hints).toContain('Warning from the service: {"code":"x"}.');
});

test('a later attempt that cannot begin says that an earlier one may have pushed rows', async () => {
	const read = storedCredentials.getDecrypted.bind(storedCredentials);
	const reading = jest.spyOn(storedCredentials, 'getDecrypted');
	reading.mockImplementationOnce(read).mockRejectedValueOnce(new Error('The database is busy'));
	const bodies = respondWith(OK, [503, '']);
	const { error } = await push(manyRows(3), tryAgain);
	reading.mockRestore();
	expect(bodies).toHaveLength(2);
	expect(error).toMatchObject({
		message: 'The database is busy',
		description: `Resolve this. ${MAY_BE_SENT}`,
	});
});

test('Stop while n8n cannot note the second request: the message says that the first one pushed rows', async () => {
	const bodies = respondWith(OK);
	const execution = startNode(pushNode(inTwos), manyRows(3));
	harness.store.beforeCall = () => {
		if (bodies.length > 0) throw new Error('database is locked');
	};
	const sleep = jest.spyOn(clock, 'sleep').mockImplementation(async () => {
		// Waits before the first response are short.
		if (bodies.length === 0) return;
		execution.cancel();
		await new Promise(() => {});
	});
	const { error } = await stoppedResult(execution);
	sleep.mockRestore();
	expect(bodies).toHaveLength(1);
	expect(error?.description).toContain('Pushed: 2 rows (rows 1 to 2, contact list 501)');
	expect(error?.description).not.toContain('This attempt sent nothing');
});

test('the error output gets one item, and Rejected lists the rows', async () => {
	respondWith(OK, [503, '']);
	const { pushed, rejected, run } = await push(manyRows(3), { onError: 'continueErrorOutput' });
	expect([pushed.length, rejected.length]).toEqual([1, 1]);
	expect(jsonOf(output(run, 'Node', 3))).toEqual([
		{
			error: expect.stringMatching(/^The service or a proxy returned HTTP status 503/),
			message: expect.stringMatching(/^The request wasn't sent again/),
			details: {
				item: 0,
				outcome: 'unknown',
				response_said: 'HTTP status 503',
				status: 503,
			},
		},
	]);
});

describe('Retry in the list of executions', () => {
	const errorOf = ({ data }: IRun) => data.resultData.error;

	async function run(node: INode, input: INodeExecutionData[]): Promise<IRun> {
		const { workflow, start } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
		return await runWorkflow(workflow, start, input, 'trigger');
	}

	/** With this version of the node. */
	async function retry(failed: IRun, node: INode): Promise<IRun> {
		const { workflow } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
		return await retryFailed(failed, workflow);
	}

	test('sends the remaining rows, and returns the requests of both executions', async () => {
		const bodies = respondWith(OK, ARCHIVED, OK, LAST);
		const node = pushNode(inTwos);
		const failed = await run(node, manyRows(5));
		expect(errorOf(failed)).toHaveProperty(
			'description',
			expect.stringMatching(
				/\nPushed: 2 rows.*\nNot sent: 3 rows .* To send only these rows, retry this execution/,
			),
		);
		const again = await retry(failed, node);
		expect(errorOf(again)).toBeUndefined();
		expect(bodies.map(phonesOf)).toEqual(
			[[0, 1], [2, 3], [2, 3], [4]].map((rows) => rows.map(phone)),
		);
		const totals = expect.objectContaining({ received: 5, pushed: 5, requests: 3, not_sent: 0 });
		expect(output(again, 'Node')).toMatchObject([
			{ json: { totals }, pairedItem: [{ item: 0 }, { item: 1 }] },
			{ json: { totals }, pairedItem: [{ item: 2 }, { item: 3 }] },
			{ json: { totals }, pairedItem: [{ item: 4 }] },
		]);
	});

	test('never sends rows again that may have arrived', async () => {
		const bodies = respondInto(breaking('ECONNRESET', respondWith(OK)), LAST);
		const node = pushNode(inTwos);
		const failed = await run(node, manyRows(5));
		const again = await retry(failed, node);
		const third = await retry(again, node);
		for (const each of [failed, again, third]) {
			expect(errorOf(each)?.message).toContain('the outcome is unknown');
		}
		expect(errorOf(third)).toHaveProperty(
			'description',
			expect.stringMatching(/\nPushed: 3 rows .*\nUnknown: 2 rows/),
		);
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 2, 3, 4].map(phone));
	});

	test('with other columns and the same numbers, sends the remaining rows', async () => {
		const bodies = respondWith(OK, ARCHIVED, OK);
		const failed = await run(pushNode(inTwos), manyRows(4));
		const edited = { ...inTwos, whatToDo: 'release', otherColumns: 'none' };
		expect(errorOf(await retry(failed, pushNode(edited)))).toBeUndefined();
		expect(bodies.slice(2).map(phonesOf)).toEqual([[phone(2), phone(3)]]);
		expect(bodies[2]).toMatchObject({ enqueue: true, contacts: [{ phone: phone(2) }, {}] });
	});

	const contacts = (...numbers: number[]): NodeParameters => ({
		contactsFrom: 'json',
		contacts: JSON.stringify(numbers.map((number) => ({ phone: phone(number) }))),
	});
	test.each<[string, NodeParameters, NodeParameters]>([
		['another size of requests', {}, { developerSettings: { contactsPerRequest: 10 } }],
		['another Phone Column', {}, { phoneColumn: 'mobile' }],
		['other contacts', contacts(0, 1, 2, 3), contacts(0, 1, 4, 3)],
		['another campaign', {}, { campaignId: '43' }],
	])('with %s, sends nothing, and reports all rows as unknown', async (_what, before, after) => {
		const bodies = respondWith(OK, ARCHIVED);
		const input = [0, 1, 2, 3].map((row) => ({
			json: { phone: phone(row), mobile: phone(row + 10) },
		}));
		const items = before.contactsFrom === 'json' ? [{ json: {} }] : input;
		const failed = await run(pushNode({ ...inTwos, ...before }), items);
		const again = await retry(failed, pushNode({ ...inTwos, ...after }));
		expect(bodies).toHaveLength(2);
		expect(errorOf(again)).toMatchObject({
			message: expect.stringMatching(/^The rows or the options changed since an earlier attempt/),
			description: expect.stringContaining('Unknown: 4 rows (rows 1 to 4)'),
		});
	});

	/** Each row of *Rejected* says how to go on, and that nothing was sent only in this attempt. */
	const unknownRows = (error: RegExp) =>
		[0, 1, 2, 3].map((row) => ({
			phone: phone(row),
			rejection_status: 'unknown',
			error: expect.stringMatching(error),
			message: expect.stringContaining(MAY_BE_SENT),
		}));

	test.each<[string, NodeParameters, RegExp]>([
		['an invalid setting', { campaignId: 'Spring' }, /^'Campaign' must be a whole number/],
		[
			'an empty setting',
			{ phoneColumn: '={{ "" }}' },
			/^'Phone Column' is empty, so nothing was sent in this attempt$/,
		],
		['a campaign that does not exist', { whatToDo: 'check' }, /doesn't know this campaign/],
	])('with %s, all rows are unknown', async (_what, edited, error) => {
		respondWith(OK, ARCHIVED);
		service()
			.get('/v1/campaigns/42/status')
			.optionally()
			.reply(200, rejection("Couldn't find Campaign"));
		const failed = await run(pushNode(inTwos), manyRows(4));
		const again = await retry(failed, pushNode({ ...inTwos, ...edited }, goOn));
		expect(jsonOf(output(again, 'Node', 1))).toMatchObject(unknownRows(error));
	});

	test('with an unreadable record, nothing is sent, and all rows are unknown', async () => {
		respondWith(OK, ARCHIVED);
		const node = pushNode(inTwos);
		const failed = await run(node, manyRows(4));
		const shelf: unknown = failed.data.executionData?.contextData['node:Node']?.voiceChatAgent;
		expect(shelf).toHaveProperty(['requests, run 0']);
		Object.assign(Object(shelf), { 'requests, run 0': 'damaged' });
		const again = await retry(failed, { ...node, ...goOn });
		expect(jsonOf(output(again, 'Node', 1))).toMatchObject(
			unknownRows(/can't be read, so nothing was sent in this attempt/),
		);
	});
});
