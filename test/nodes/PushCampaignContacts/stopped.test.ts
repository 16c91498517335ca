/** A push that stops in the middle: what it reports, and what later attempts send. */
import range from 'lodash/range';
import type { INode, INodeExecutionData, IRun } from 'n8n-workflow';
import { PUSH_LIMITS } from '../../../nodes/PushCampaignContacts/push/rows';
import { oneNodeWorkflow, output, retryFailed, runWorkflow, service } from '../../engine';
import {
	accepted,
	accepting,
	ARCHIVED,
	BROKEN,
	goOn,
	inTwos,
	jsonOf,
	manyRows,
	OUTPUTS,
	outputsOf,
	phone,
	push,
	pushNode,
	rejection,
	respondWith,
	rowsOfItems,
	runPush,
	scripted,
	type NodeParameters,
	type PushRun,
	type Reply,
	WAITING,
	butRequest,
	phones,
	pushHarness,
} from './pushHarness';

pushHarness();
beforeEach(() => jest.replaceProperty(PUSH_LIMITS, 'rejected', 8));

const MAY_BE_SENT =
	"Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.";
const LEGEND = 'Rows are counted in the input. A sheet numbers them differently.';
const LOOK =
	"Before you push unknown rows again, look at the campaign's contact lists with Campaign Status, with 'Output' set to 'Raw'. Each shows when it was made (created_at) and how many released contacts it has queued (total_queued). Or look at the campaign in the service.";
const tryAgain = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
const one = (text: string): INodeExecutionData => ({ json: { phone: text } });
const linesOf = ({ error }: PushRun) => error?.description?.split('\n') ?? [];

describe('if the outcome of the second request is unknown', () => {
	test('it is not sent again, and the error reports every row', async () => {
		const sent = scripted(butRequest(2, BROKEN));
		const rows = [one('12'), ...manyRows(5), one(phone(0))];
		const { error, ...others } = await runPush(rows, inTwos);
		expect(sent).toEqual([phones(0, 1), phones(2, 3)]);
		expect(error?.message).toBe('No response arrived, so the outcome is unknown');
		expect(linesOf({ error, ...others })).toEqual([
			expect.stringMatching(/^The request wasn't sent again/),
			'7 rows: 2 pushed, 1 rejected, 1 duplicate, 2 unknown, 1 not sent.',
			'Pushed: 2 rows (rows 2 to 3, contact list 501). Leave them out if you push the other rows again.',
			'Unknown: 2 rows (rows 4 to 5). They may or may not be in the campaign.',
			'Not sent: 1 row (row 6). To send only these rows, retry this execution from the list of executions.',
			expect.stringMatching(/^Rejected: 1 row \(row 1\)\. The first reason: "12" has 2 digits/),
			'Skipped: 1 row (row 7). Leave them out if you push the other rows again.',
			LEGEND,
			LOOK,
		]);
		expect(error?.context).toMatchObject({
			descriptionTemplate: String(error?.description).replaceAll('\n', '<br>'),
		});
		// It's about the whole push.
		expect(error?.context.itemIndex).toBeUndefined();
	});

	test.each<[string, Reply | Error]>([
		['the connection breaks', BROKEN],
		['the response is cut off', [200, '{"success":true,"data":{"campa']],
		['a rejection has a list', [400, { ...rejection('no'), data: { campaign_upload_id: 7 } }]],
	])('because %s, each row is returned once with Continue', async (_why, reply) => {
		scripted(butRequest(2, reply));
		const { pushed, rejected, statuses, hints } = await push(5, inTwos);
		expect(rowsOfItems(pushed)).toEqual([0, 1]);
		expect(pushed[0]?.json.totals).toMatchObject({ pushed: 2, unknown: 2, not_sent: 1 });
		expect(statuses).toEqual(['2 unknown', '3 unknown', '4 not_sent']);
		expect(hints).toEqual([
			`5 rows: 2 pushed, 2 unknown, 1 not sent. ${WAITING}`,
			expect.stringMatching(/outcome is unknown.*wasn't sent again/),
			LOOK,
		]);
		expect(jsonOf(rejected).map((row) => row.rejection_reason)).toEqual([
			expect.stringMatching(/The request wasn't sent again/),
			expect.stringMatching(/The request wasn't sent again/),
			expect.stringMatching(/before it reached this row: .*push this row again\.$/),
		]);
	});

	test('Retry On Fail sends only what was not sent, and the error is about all rows', async () => {
		const sent = scripted(butRequest(2, BROKEN));
		const run = await runPush(manyRows(5), inTwos, tryAgain);
		expect(sent).toEqual([phones(0, 1), phones(2, 3), phones(4)]);
		expect(run.error?.message).toBe('2 rows may or may not be in the campaign');
		expect(linesOf(run).slice(1, 4)).toEqual([
			'5 rows: 1 pushed, 2 sent before, 2 unknown.',
			expect.stringMatching(/^Pushed: 1 row \(row 5, contact list 503\)/),
			expect.stringMatching(/^Unknown: 2 rows \(rows 3 to 4\)/),
		]);
	});

	test('the error output gets one item, and Rejected lists the rows', async () => {
		scripted(butRequest(2, [503, '']));
		const over = { onError: 'continueErrorOutput' } as const;
		const { pushed, statuses, run } = await runPush(manyRows(3), inTwos, over);
		expect([pushed.length, statuses]).toEqual([1, ['2 unknown']]);
		expect(jsonOf(output(run, 'Node', 3))).toEqual([
			{
				error: expect.stringMatching(/^The service or a proxy returned HTTP status 503/),
				message: expect.stringMatching(/^The request wasn't sent again/),
				details: { item: 0, outcome: 'unknown', response_said: 'HTTP status 503', status: 503 },
			},
		]);
	});
});

test('the error names no list if no row was pushed, and shows the first of several reasons', async () => {
	const data = { campaign_upload_id: 1, dnd_skipped: [phone(0)] };
	respondWith([200, { success: true, data }], ARCHIVED);
	const rows = [...manyRows(3), one('x'), one('12')];
	const run = await runPush(rows, { options: { contactsPerRequest: 1 } });
	expect(linesOf(run).slice(1)).toEqual([
		'5 rows: 0 pushed, 2 rejected, 1 on the do-not-disturb list, 2 not sent.',
		'Not sent: 2 rows (rows 2 to 3). To send only these rows, retry this execution from the list of executions.',
		expect.stringMatching(
			/^Rejected: 2 rows \(rows 4 to 5\)\. The first reason: "x" isn't a phone number\. /,
		),
		'Skipped: 1 row (row 1). Leave them out if you push the other rows again.',
		LEGEND,
	]);
});

const every = (count: number) => range(count).map((nth) => 2 * nth);
test.each<[string, number[], RegExp]>([
	['a range and a row', [0, 1, 2, 9], /\(rows 1 to 3, 10\)/],
	['a hundred ranges', every(100), /, 197, 199\)/],
	['more ranges', every(103), /, 197, 199, and 3 more\)/],
])('the error names %s', async (_what, bad, words) => {
	respondWith(ARCHIVED);
	const rows = range(206).map((row) => one(bad.includes(row) ? '-' : phone(row)));
	expect(linesOf(await runPush(rows)).find((line) => line.startsWith('Rejected'))).toMatch(words);
});

test('text from a row is never HTML in the error and the hints', async () => {
	const rows = [one('<img src=x>'), ...manyRows(1)];
	const warnings = { ...accepted(1, { warnings: ['<b>', { code: 'x' }] }), message: '<b>' };
	scripted((_numbers, request) => (request === 1 ? BROKEN : [200, warnings]));
	const { error } = await runPush(rows);
	expect(error).toMatchObject({
		description: expect.stringMatching(
			/Rejected: 1 row \(row 1\)\. The first reason: "‹img src=x>"/,
		),
		context: { descriptionTemplate: expect.not.stringMatching(/<(?!br>)/) },
	});
	const { hints } = await runPush(rows);
	expect(hints.join()).not.toMatch(/<[a-z]/);
	expect(hints).toContain('Warning from the service: {"code":"x"}.');
});

describe('Retry in the list of executions', () => {
	/** An execution that fails. */
	async function failed(node: INode, rows: INodeExecutionData[]): Promise<IRun> {
		const { workflow, start } = oneNodeWorkflow(node, OUTPUTS);
		const run = await runWorkflow(workflow, start, rows, 'trigger');
		expect(run.data.resultData.error).toBeDefined();
		return run;
	}

	/** With this version of the node. */
	const retry = async (run: IRun, node: INode, rows?: INodeExecutionData[]) => {
		const [task] = run.data.executionData?.nodeExecutionStack ?? [];
		if (rows !== undefined && task !== undefined) task.data = { main: [rows] };
		return outputsOf(await retryFailed(run, oneNodeWorkflow(node, OUTPUTS).workflow));
	};

	test('sends the remaining rows and those that the service rejected, and returns the others in Skipped', async () => {
		const sent = scripted((numbers, request) => {
			if (request < 4 && numbers.includes(phone(1))) return [400, rejection('contacts[0]')];
			return request === 4 ? ARCHIVED : accepting(numbers, request);
		});
		const node = pushNode(inTwos);
		const again = await retry(await failed(node, manyRows(6)), node);
		expect(again.error).toBeUndefined();
		expect(sent).toEqual([
			...[phones(0, 1), phones(0), phones(1), phones(2, 3)],
			...[phones(1, 2), phones(3, 4), phones(5)],
		]);
		expect(again.statuses).toEqual(['0 sent_before']);
		const totals = expect.objectContaining({ received: 6, pushed: 5, sent_before: 1, requests: 3 });
		expect(again.pushed.map(({ json }) => json.totals)).toEqual([totals]);
	});

	test('knows which rows an earlier attempt sent, also if it stops before them', async () => {
		const sent = scripted((...request) => (request[1] > 1 ? ARCHIVED : accepting(...request)));
		const first = await failed(pushNode(inTwos), manyRows(5));
		const again = await retry(first, pushNode(inTwos, goOn), manyRows(5).toReversed());
		expect(sent).toEqual([phones(0, 1), phones(2, 3), phones(4, 3)]);
		expect(again.statuses).toEqual([
			...['0 not_sent', '1 not_sent', '2 not_sent', '3 sent_before', '4 sent_before'],
		]);
	});

	test('sends the rows of another column after too many rejections, as the error advises', async () => {
		const sent = scripted((numbers, request) =>
			Number(numbers[0]) < Number(phone(10))
				? [400, rejection('contacts[0] is invalid')]
				: accepting(numbers, request),
		);
		const rows = range(9).map((row) => ({
			json: { phone: phone(row), mobile: phone(row + 10) },
		}));
		const again = await retry(await failed(pushNode(), rows), pushNode({ phoneColumn: 'mobile' }));
		expect([again.error, again.statuses]).toEqual([undefined, []]);
		expect(sent.at(-1)).toEqual(range(10, 19).map(phone));
	});

	test('pushes no number again after an attempt with another column and back', async () => {
		const sent = scripted((...request) =>
			request[1] % 2 === 0 ? ARCHIVED : accepting(...request),
		);
		const rows = range(4).map((row) => ({ json: { phone: phone(row), mobile: phone(row + 1) } }));
		const first = await failed(pushNode(inTwos), rows);
		const edited = oneNodeWorkflow(pushNode({ ...inTwos, phoneColumn: 'mobile' }), OUTPUTS);
		const again = await retry(await retryFailed(first, edited.workflow), pushNode(inTwos));
		expect(sent).toEqual([phones(0, 1), phones(2, 3), phones(2, 3), phones(4)]);
		expect(again.statuses).toEqual(range(4).map((row) => `${row} sent_before`));
	});

	test('sends no row again, also not fewer of them, after a retry that sent more than n8n remembers', async () => {
		jest.replaceProperty(PUSH_LIMITS, 'claimed', 2);
		const sent = scripted(butRequest(1, ARCHIVED));
		const node = pushNode();
		const first = await failed(node, manyRows(3));
		expect((await retry(first, node)).error).toBeUndefined();
		const { error } = await retry(first, node, manyRows(2));
		expect(error?.message).toContain('This execution may have pushed more than 2 rows');
		expect(sent).toEqual([phones(0, 1, 2), phones(0, 1, 2)]);
	});

	test('sends the remaining rows with other columns', async () => {
		const bodies = respondWith([200, accepted(2)], ARCHIVED, [200, accepted(2)]);
		const first = await failed(pushNode(inTwos), manyRows(4));
		const options = { ...inTwos.options, columnsToSend: '' };
		const edited = { options, whatToDo: 'release', personNameColumn: '' };
		expect((await retry(first, pushNode(edited))).error).toBeUndefined();
		const rest = phones(2, 3).map((number) => ({ phone: number }));
		expect(bodies[2]).toEqual({ agent_uuid: 'agent_5f2c', enqueue: true, contacts: rest });
	});

	test.each<[string, NodeParameters, rows: number[], string[]]>([
		['of another size', { options: { contactsPerRequest: 10 } }, [0, 1, 2, 3], phones(2, 3)],
		['with other rows', inTwos, [0, 1, 4, 3], phones(4, 3)],
		['in another order', inTwos, [3, 0, 2, 1], phones(3, 2)],
		['to another campaign', { campaignId: '43' }, [0, 1, 2, 3], phones(0, 1, 2, 3)],
	])('sends requests %s, but no number again', async (_what, after, rows, expected) => {
		const sent = scripted(butRequest(2, ARCHIVED));
		const first = await failed(pushNode(inTwos), manyRows(4));
		const again = await retry(
			first,
			pushNode(after),
			rows.map((row) => one(phone(row))),
		);
		expect(again.error).toBeUndefined();
		expect(sent.slice(2).flat()).toEqual(expected);
	});

	test.each<[string, NodeParameters, damaged: string[], error: RegExp]>([
		['an invalid setting', { campaignId: 'Spring' }, [], /^'Campaign' must be a whole number/],
		[
			'an empty setting',
			{ phoneColumn: '={{ "" }}' },
			[],
			/^'Phone Column' is empty, so nothing was sent in this attempt\./,
		],
		['a campaign that does not exist', { whatToDo: 'check' }, [], /doesn't know this campaign/],
		[
			'a damaged record',
			{},
			['pushes to 42'],
			/can't be read, so nothing was sent in this attempt/,
		],
	])(
		'with %s, sends nothing, and says of each row how to go on',
		async (_what, edited, ...then) => {
			const [damaged, error] = then;
			const sent = scripted(butRequest(2, ARCHIVED));
			const campaign = service().get('/v1/campaigns/42/status').optionally();
			campaign.reply(200, rejection("Couldn't find Campaign"));
			const first = await failed(pushNode(inTwos), manyRows(4));
			const stored: unknown = first.data.executionData?.contextData['node:Node']?.voiceChatAgent;
			for (const name of damaged) {
				expect(stored).toHaveProperty([name]);
				Object.assign(Object(stored), { [name]: 'damaged' });
			}
			const again = await retry(first, pushNode({ ...inTwos, ...edited }, goOn));
			expect(sent).toHaveLength(2);
			expect(jsonOf(again.rejected)).toMatchObject(
				range(4).map((row) => ({
					phone: phone(row),
					push_status: 'unknown',
					rejection_reason: expect.stringMatching(new RegExp(`${error.source}.*${MAY_BE_SENT}`)),
				})),
			);
		},
	);
});
