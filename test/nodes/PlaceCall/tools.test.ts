/** Place Call as a tool: what the model is told, when calls are placed later, and time limits. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { TOOL_LIMITS } from '../../../nodes/host/caller/caller';
import { engineTool, holdTimeouts, inlineTool, mcpTool, skipSleeps } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	HOURS,
	NIGHT,
	placeCallHarness,
} from './placeCallHarness';
import { WAIT } from './waitHarness';

const harness = placeCallHarness();
const node = harness.placeCallNode;

const FROM_MODEL = { when: "={{ $fromAI('when') }}" };
const QUESTION = { operation: 'askAndWait', question: 'May I?', yesValues: 'yes', noValues: 'no' };
const SKIP = { ...HOURS, outsideCallingHours: 'notPlaced' };
const BODY_TIME = { options: { additionalBodyFields: '{ "scheduled_at": "23:00" }' } };
const DONT_REPEAT = 'Do not repeat this request. Read the call after that time by its ID.';

const including = (text: string): unknown => expect.stringContaining(text);
const scheduled = (time: string, next_step: string) => ({
	outcome: 'done',
	what_happened: including(`A call to 9876543210 (IN) was scheduled for ${time}`),
	next_step,
});
const notSent = (what: string, next: unknown) => ({
	outcome: 'not_sent',
	what_happened: including(what),
	next_step: next,
	result: null,
});
const MONDAY = 'Monday, 23 November 2026, 09:00 (Asia/Kolkata).';
const itIsFriday: unknown = expect.stringMatching(
	/It is now Friday, 2026-11-20T\d{2}:\d{2}:00[+-]\d{2}:\d{2}\./,
);

it.each<[string, INodeParameters, IDataObject, told: object]>([
	['a call outside the hours', { ...HOURS }, {}, scheduled(MONDAY, DONT_REPEAT)],
	['one that is read', { ...HOURS, ...WAIT }, {}, scheduled(MONDAY, DONT_REPEAT)],
	[
		'a question outside the hours',
		{ ...HOURS, ...QUESTION },
		{},
		notSent("The call wasn't placed, because it's outside the calling hours.", including(MONDAY)),
	],
	[
		'a time',
		FROM_MODEL,
		{ when: '2026-11-21T18:30:00+05:30' },
		scheduled('Saturday, 21 November 2026, ', DONT_REPEAT),
	],
	[
		'a time of day, whose date only the service knows',
		{ ...FROM_MODEL, ...WAIT },
		{ when: '18:30' },
		scheduled('18:30 (India).', DONT_REPEAT),
	],
	[
		'no time',
		FROM_MODEL,
		{ when: 'tomorrow at 10:00' },
		notSent("'When to Call' must be a time", itIsFriday),
	],
	[
		'a time in the past',
		FROM_MODEL,
		{ when: '2026-11-19T10:00:00+05:30' },
		notSent("'When to Call' is in the past", itIsFriday),
	],
	[
		'a call outside the hours that is not placed then',
		SKIP,
		{},
		notSent("The call wasn't placed, because it's outside the calling hours.", including(MONDAY)),
	],
	['a time in the body', BODY_TIME, {}, notSent("can't have scheduled_at", including('Remove it'))],
	[
		'a check',
		{ whatToDo: 'check' },
		{},
		notSent(
			"The call wasn't placed, because 'What to Do' is 'Check Only'.",
			including(
				"In n8n, set 'What to Do' to 'Place Calls'. The request is valid (time of the call: now).",
			),
		),
	],
])('without a wait, the model is told what happened to %s', async (...one) => {
	const [, parameters, args, told] = one;
	for (const toolOf of [engineTool, inlineTool]) {
		skipSleeps(Date.parse(NIGHT));
		const bodies = acceptUpTo(1);
		const result = await toolOf(node(parameters))(args);
		expect(result).toMatchObject(told);
		expect(result.result ?? {}).not.toHaveProperty('timed_out');
		expect(bodies).toHaveLength(result.outcome === 'done' ? 1 : 0);
		expect(clock.now()).toBe(Date.parse(NIGHT));
	}
});

it('Call Again in Loops is no option of a tool, which calls a person once', async () => {
	acceptCalls(1);
	const initialGreeting = "={{ $fromAI('greeting') }}";
	const tool = engineTool(node({ options: { initialGreeting, callAgainInLoops: true } }));
	expect(await tool({ greeting: 'Hello' })).toMatchObject({ outcome: 'done' });
	expect(await tool({ greeting: 'Good morning' })).toMatchObject(
		notSent(
			"The call wasn't placed, because this number was called before in this execution.",
			'Do not call this number again in this execution. You can call other people.',
		),
	);
});

it('an MCP client without a session is not told to repeat the request', async () => {
	skipSleeps(Date.parse(NIGHT));
	acceptUpTo(1);
	const tool = mcpTool(node({ ...WAIT, ...HOURS }));
	expect(await tool()).toMatchObject(scheduled(MONDAY, DONT_REPEAT));
});

describe('within the time limit of tools', () => {
	it('a call without a response is unknown, and not placed again', async () => {
		const pass = holdTimeouts();
		const late = Promise.withResolvers<[number]>();
		callsEndpoint().reply(async () => {
			pass(TOOL_LIMITS.wholeMs);
			return await late.promise;
		});
		const tool = engineTool(node());
		const what_happened = including('No response arrived');
		expect(await tool()).toMatchObject({ outcome: 'unknown', what_happened });
		expect(await tool()).toMatchObject({ outcome: 'unknown' });
		late.resolve([200]);
	});

	it('a request is not repeated if the service asks to wait longer', async () => {
		jest.replaceProperty(TOOL_LIMITS, 'wholeMs', 4_000);
		holdTimeouts();
		callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '5' });
		expect(await engineTool(node())()).toMatchObject({ outcome: 'rejected' });
	});

	it('a call is not placed if the list of called numbers takes longer', async () => {
		const pass = holdTimeouts();
		harness.store.beforeCall = (made) => {
			if (made === 'add 1') pass(TOOL_LIMITS.wholeMs);
		};
		expect(await engineTool(node({ callLimit: 'day' }))()).toMatchObject(
			notSent(
				'Timed out after 50 seconds, and nothing was sent.',
				expect.stringMatching(/^Nothing was done\. Wait for a minute/),
			),
		);
	});
});
