/** Calls that a tool schedules: the model is told when, and the tool doesn't wait for them. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { engineHarness, engineTool, inlineTool, mcpTool } from '../../engine';
import { acceptCalls, CALL, HOURS, NIGHT, NOON, waitBy } from './placeCallHarness';

const harness = engineHarness();
afterEach(() => jest.restoreAllMocks());

const isNow = (time: string) => jest.spyOn(clock, 'now').mockReturnValue(Date.parse(time));

const FROM_MODEL = "={{ $fromAI('when') }}";
const QUESTION = {
	operation: 'sendAndWait',
	message: 'May I?',
	yesValues: 'yes',
	noValues: 'no',
} satisfies INodeParameters;
const tool = (parameters: INodeParameters) =>
	harness.node('placeCall', { parameters: { ...CALL, ...parameters } });

/** The result, which must come without a wait. */
async function resultOf(call: Promise<IDataObject>): Promise<IDataObject> {
	const begun = clock.elapsed();
	const result = await call;
	expect(clock.elapsed() - begun).toBeLessThan(5_000);
	return result;
}

test.each([
	['a call', { ...waitBy('reading'), ...HOURS }],
	['a call that is waited for by webhook', { ...waitBy('webhook'), ...HOURS }],
	['a question', { ...QUESTION, ...HOURS }],
])(
	'%s outside the calling hours: the model is told when it is placed',
	async (_what, parameters) => {
		isNow(NIGHT);
		acceptCalls(1);
		const result = await resultOf(engineTool(tool(parameters))());
		expect(result).toMatchObject({
			outcome: 'done',
			what_happened:
				'A call to 9876543210 (IN) is scheduled for Monday, 23 November 2026, 09:00 (Asia/Kolkata).',
			next_step:
				'To get its result, repeat this request after that time. No second call is placed.',
		});
		expect(result.result).not.toHaveProperty('timed_out');
	},
);

test('a question that is asked later has no answer yet', async () => {
	isNow(NIGHT);
	acceptCalls(1);
	expect(await engineTool(tool({ ...QUESTION, ...HOURS }))()).toMatchObject({
		result: {
			answer: 'unclear',
			explanation: 'The call is scheduled for a later time, so nobody has answered yet.',
		},
	});
});

test('a time of day is returned with its date, before the call', async () => {
	isNow(NOON);
	acceptCalls(1);
	const when = '2026-11-20T18:30:00+05:30';
	expect(await inlineTool(tool({ when: FROM_MODEL }))({ when })).toMatchObject({
		what_happened: expect.stringContaining('is scheduled for Friday, 20 November 2026, '),
		next_step: 'Do not repeat this request. Read the call after that time by its ID.',
	});
});

test.each([
	['a call', {}],
	['a call that is waited for', waitBy('reading')],
])(
	'the time of day of %s is returned as it is, if the service does not tell its date',
	async (_what, parameters) => {
		isNow(NOON);
		acceptCalls(1);
		const node = tool({ ...parameters, when: FROM_MODEL });
		const result = await resultOf(inlineTool(node)({ when: '18:30' }));
		expect(result).toMatchObject({
			what_happened: 'A call to 9876543210 (IN) is scheduled for 18:30 (Asia/Kolkata).',
			next_step: 'Do not repeat this request. Read the call after that time by its ID.',
		});
	},
);

test('an MCP client without a session is not told to repeat the request', async () => {
	isNow(NIGHT);
	acceptCalls(1);
	expect(await mcpTool(tool({ ...waitBy('reading'), ...HOURS }))()).toMatchObject({
		next_step: 'Do not repeat this request. Read the call after that time by its ID.',
	});
});

test.each([
	['tomorrow at 10:00', "'When to Call' must be a time"],
	['2026-11-19T10:00:00+05:30', "'When to Call' is in the past"],
])('%s: the model is told the time', async (when, happened) => {
	isNow(NOON);
	expect(await engineTool(tool({ when: FROM_MODEL }))({ when })).toMatchObject({
		outcome: 'not_sent',
		what_happened: expect.stringContaining(happened),
		next_step: expect.stringMatching(
			/It is now Friday, 2026-11-20T\d{2}:\d{2}:00[+-]\d{2}:\d{2}\./,
		),
	});
});
