import { viewCampaign, type CampaignView } from '../../../nodes/shared/campaign';
import {
	IDLE_LIMIT_MS,
	evaluateWait,
	waitUntilCompleted,
	type WaitSettings,
} from '../../../nodes/CampaignStatus/campaignWait';
import { InvalidInput, NotSent, OutcomeUnknown } from '../../../nodes/shared/api/errors';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import type { JsonValue } from '../../../nodes/shared/json';

const SETTINGS: WaitSettings = { intervalMs: 30_000, limitMs: 300_000, waitWhileStopped: false };

const list = (id: number, ...completed: boolean[]): JsonValue => ({
	campaign_upload_id: id,
	queues: completed.map((done) => ({ agent_uuid: 'agent_a', total_queued: 5, completed: done })),
});
/** Pushed and never released, so it has an empty queue. */
const unreleased = (id: number): JsonValue => ({
	campaign_upload_id: id,
	queues: [{ agent_uuid: 'agent_a', total_queued: 0, completed: false }],
});
const view = (status: string | null, ...uploads: JsonValue[]) =>
	viewCampaign({ campaign: { id: 7, status }, calls: { total: 1, by_status: {} }, uploads });

/** A wait with a clock whose sleeps end immediately, and with these results of its reads. */
function scripted(script: Array<CampaignView | Error>) {
	const sleeps: number[] = [];
	const seen = { now: 0, reads: 0, sleeps };
	const clock = {
		now: () => seen.now,
		elapsed: () => seen.now,
		sleep: async (milliseconds: number) => {
			seen.sleeps.push(milliseconds);
			seen.now += milliseconds;
			await Promise.resolve();
		},
	};
	const read = async () => {
		const next = script[Math.min(seen.reads++, script.length - 1)];
		await Promise.resolve();
		if (next === undefined || next instanceof Error) throw next ?? new Error('no script');
		return next;
	};
	return {
		seen,
		wait: async (over = {}) => await waitUntilCompleted(read, { ...SETTINGS, ...over }, clock),
	};
}

describe('one read', () => {
	const stopped = { ...SETTINGS, waitWhileStopped: true };
	test.each([
		['a completed queue', view('Active', list(1, true)), SETTINGS, 'completed'],
		['all of several', view('Active', list(1, true), list(2, true, true)), SETTINGS, 'completed'],
		['one in progress', view('Active', list(1, true), list(2, true, false)), SETTINGS, undefined],
		['nothing queued yet', view('Active', list(1)), SETTINGS, undefined],
		['no list at all', view('Active'), SETTINGS, undefined],
		[
			'a list never queued beside a completed one',
			view('Active', list(1, true), list(2)),
			SETTINGS,
			'completed',
		],
		[
			'a list that was never released beside a completed one',
			view('Active', list(1, true), unreleased(2)),
			SETTINGS,
			'completed',
		],
		['completed while paused', view('Paused', list(1, true)), SETTINGS, 'completed'],
		['a draft', view('Draft', list(1, false)), SETTINGS, 'draft'],
		['paused', view('Paused', list(1, false)), SETTINGS, 'paused'],
		['archived', view('Archived', list(1, false)), SETTINGS, 'archived'],
		['paused, waited out', view('Paused', list(1, false)), stopped, undefined],
		['a draft, waited out', view('Draft'), stopped, undefined],
		['archived, which does not pass', view('Archived', list(1, false)), stopped, 'archived'],
		[
			'a status that the document does not name',
			view('Cooling', list(1, false)),
			SETTINGS,
			undefined,
		],
		['no status', view(null, list(1, false)), SETTINGS, undefined],
		[
			'the one list',
			view('Active', list(1, true), list(2, false)),
			{ ...SETTINGS, contactListId: 1 },
			'completed',
		],
		[
			'the one list, open',
			view('Active', list(1, true), list(2, false)),
			{ ...SETTINGS, contactListId: 2 },
			undefined,
		],
		[
			'the one list, never queued',
			view('Active', list(1)),
			{ ...SETTINGS, contactListId: 1 },
			undefined,
		],
		[
			'the one list, unknown',
			view('Active', list(1, true)),
			{ ...SETTINGS, contactListId: 9 },
			undefined,
		],
	])('%s', (_name, campaign, settings, outcome) => {
		expect(evaluateWait(campaign, settings)?.outcome).toBe(outcome);
	});
});

test.each([
	['Every queue with contacts is completed.', view('Active', list(1, true)), {}],
	['Contact list 1 is completed.', view('Active', list(1, true)), { contactListId: 1 }],
	[
		"The campaign is a draft, so nobody is called until it's activated.",
		view('Draft', list(1, false)),
		{},
	],
	[
		'The campaign is paused. Its queued contacts are kept, and called when the campaign is activated again.',
		view('Paused', list(1, false)),
		{},
	],
	[
		"The campaign is archived, so the contacts that are left in its queues aren't called.",
		view('Archived', list(1, false)),
		{},
	],
])('the note is: %s', (note, campaign, over) => {
	expect(evaluateWait(campaign, { ...SETTINGS, ...over })?.note).toBe(note);
});

describe('waiting', () => {
	test('reads once per interval until the queues are completed', async () => {
		const open = view('Active', list(1, false));
		const { seen, wait } = scripted([open, open, view('Active', list(1, true))]);
		expect((await wait()).end.outcome).toBe('completed');
		expect(seen).toMatchObject({ reads: 3, sleeps: [30_000, 30_000] });
	});

	test('reads once more at the limit, and lists what is not completed', async () => {
		const { seen, wait } = scripted([view('Active', list(1, true), list(2, false))]);
		const { end } = await wait({ limitMs: 70_000 });
		expect(end).toEqual({
			outcome: 'timed_out',
			note: "The time limit passed after 1 minute. These contact lists aren't completed: 2.",
		});
		expect(seen.sleeps).toEqual([30_000, 30_000, 10_000]);
	});

	test.each([
		[{}, 'the calling queue is empty'],
		[{ contactListId: 9 }, 'the campaign has no contact list 9'],
	])('reports at the limit what was missing: %p', async (over, words) => {
		const { wait } = scripted([view('Active', list(1))]);
		expect((await wait(over)).end.note).toContain(words);
	});

	describe('with an empty calling queue', () => {
		test.each<[string, CampaignView, object, string]>([
			[
				'a list that was never released',
				view('Active', unreleased(2)),
				{ contactListId: 2 },
				'contact list 2 has no contacts in the calling queue',
			],
			[
				'a list without queues',
				view('Active', list(2)),
				{ contactListId: 2 },
				'contact list 2 has no contacts in the calling queue',
			],
			[
				'no released list at all',
				view('Active', unreleased(1), list(2)),
				{},
				'the calling queue is empty',
			],
			[
				'a list of another campaign',
				view('Active', list(1, false)),
				{ contactListId: 9 },
				'the campaign has no contact list 9',
			],
		])(
			'%s ends the wait after two minutes and says what to do',
			async (_name, campaign, over, what) => {
				const { seen, wait } = scripted([campaign]);
				const { end } = await wait({ limitMs: 3_600_000, ...over });
				expect(end).toEqual({
					outcome: 'not_released',
					note: expect.stringContaining(`The node has nothing to wait for: ${what}. `),
				});
				expect(seen.now).toBe(IDLE_LIMIT_MS);
			},
		);

		test('the advice depends on what is missing', async () => {
			const unknown = await scripted([view('Active')]).wait({ contactListId: 9 });
			expect(unknown.end.note).toContain("Check 'Contact List ID' and 'Campaign'");
			const idle = await scripted([view('Active', unreleased(9))]).wait({ contactListId: 9 });
			expect(idle.end.note).toContain("turn on 'Release to Calling Queue'");
		});

		test('an emptied queue is not treated as never released', async () => {
			const { wait } = scripted([
				view('Active', list(2, false)),
				...Array.from({ length: 8 }, () => view('Active', unreleased(2))),
				view('Active', list(2, true)),
			]);
			const { end } = await wait({ limitMs: 3_600_000, contactListId: 2 });
			expect(end.outcome).toBe('completed');
		});

		test('waits for contacts that appear late', async () => {
			const { wait } = scripted([
				view('Active', unreleased(2)),
				view('Active', unreleased(2)),
				view('Active', list(2, false)),
				...Array.from({ length: 8 }, () => view('Active', list(2, false))),
				view('Active', list(2, true)),
			]);
			const { end } = await wait({ limitMs: 3_600_000, contactListId: 2 });
			expect(end.outcome).toBe('completed');
		});

		test('waits for contacts that appear late, also if another list is completed', async () => {
			const { seen, wait } = scripted([
				view('Active', list(1, true), unreleased(2)),
				view('Active', list(1, true), list(2, false)),
				...Array.from({ length: 8 }, () => view('Active', list(1, true), list(2, false))),
				view('Active', list(1, true), list(2, true)),
			]);
			const { end } = await wait({ limitMs: 3_600_000 });
			expect(end.outcome).toBe('completed');
			expect(seen.reads).toBe(11);
		});

		test('a list that was never released delays the completion of the others by two minutes', async () => {
			const { seen, wait } = scripted([view('Active', list(1, true), unreleased(2))]);
			const { end } = await wait({ limitMs: 3_600_000 });
			expect(end.outcome).toBe('completed');
			expect(seen.now).toBe(IDLE_LIMIT_MS);
			const short = await scripted([view('Active', list(1, true), unreleased(2))]).wait({
				limitMs: 45_000,
			});
			expect(short.end.outcome).toBe('completed');
		});

		test.each([
			['Archived', {}],
			['Paused', {}],
			['Draft', {}],
			['Archived', { waitWhileStopped: true }],
		])(
			'a list that was never released delays nothing if the campaign is %s: %p',
			async (status, over) => {
				const { seen, wait } = scripted([view(status, list(1, true), unreleased(2))]);
				const { end } = await wait({ limitMs: 3_600_000, ...over });
				expect([end.outcome, seen.reads]).toEqual(['completed', 1]);
			},
		);

		test('waits two minutes for the contacts of a list that appears during the wait', async () => {
			const first = Array.from({ length: 20 }, () => view('Active', list(1, false)));
			const both = view('Active', list(1, true), unreleased(2));
			const released = scripted([
				...first,
				both,
				both,
				view('Active', list(1, true), list(2, false)),
				view('Active', list(1, true), list(2, true)),
			]);
			expect((await released.wait({ limitMs: 3_600_000 })).end.outcome).toBe('completed');
			expect(released.seen.reads).toBe(24);
			const never = scripted([...first, both]);
			expect((await never.wait({ limitMs: 3_600_000 })).end.outcome).toBe('completed');
			expect(never.seen.now).toBe(20 * SETTINGS.intervalMs + IDLE_LIMIT_MS);
		});

		test.each([
			['the selected list appears late, so it gets two more minutes', unreleased(2), 60_000],
			['another list appears, which changes nothing', unreleased(3), 0],
		])('%s', async (_what, appears, from) => {
			const { seen, wait } = scripted([view('Active'), view('Active'), view('Active', appears)]);
			const { end } = await wait({ limitMs: 3_600_000, contactListId: 2 });
			expect([end.outcome, seen.now]).toEqual(['not_released', from + IDLE_LIMIT_MS]);
		});

		test('waits until the limit if set, and reports what was missing', async () => {
			const { wait } = scripted([view('Active', unreleased(2))]);
			const { end } = await wait({ contactListId: 2, waitWhileStopped: true });
			expect(end).toEqual({
				outcome: 'timed_out',
				note: expect.stringMatching(
					/^The time limit passed after 5 minutes: contact list 2 has no contacts in the calling queue\. To release contacts/,
				),
			});
		});
	});

	describe('for a list that was in progress', () => {
		const before = view('Active', list(1, true), list(2, false));
		const cases: Array<[string, CampaignView]> = [
			['a response no longer has it', view('Active', list(1, true))],
			['its queue is empty', view('Active', list(1, true), unreleased(2))],
			['it has no queues', view('Active', list(1, true), list(2))],
		];

		test.each(cases)('does not count it as completed if %s', async (_what, after) => {
			const { wait, seen } = scripted([
				before,
				...Array.from({ length: 8 }, () => after),
				view('Active', list(1, true), list(2, true)),
			]);
			expect((await wait({ limitMs: 3_600_000 })).end.outcome).toBe('completed');
			expect(seen.reads).toBe(10);
		});

		test.each(cases)('names it at the limit if %s', async (_what, after) => {
			const { end } = await scripted([before, after]).wait();
			expect(end).toEqual({
				outcome: 'timed_out',
				note: expect.stringContaining(" These contact lists aren't completed: 2."),
			});
		});

		test.each([{}, { contactListId: 2 }])(
			'says at the limit that it is no longer in the response: %p',
			async (over) => {
				const { end } = await scripted([before, view('Active', list(1, true))]).wait(over);
				expect(end.note).toBe(
					"The time limit passed after 5 minutes. These contact lists aren't completed: 2. The campaign no longer shows these: 2.",
				);
			},
		);

		test('ends if the campaign is paused and no longer shows it', async () => {
			const { end } = await scripted([before, view('Paused', list(1, true))]).wait();
			expect(end.outcome).toBe('paused');
		});
	});

	test.each(['Cooling', 'constructor'])('continues in the unknown status %s', async (status) => {
		const { wait } = scripted([view(status, list(1, false)), view('Active', list(1, true))]);
		expect((await wait()).end.outcome).toBe('completed');
	});

	test('ends with a reason if the campaign is paused', async () => {
		const { wait } = scripted([view('Active', list(1, false)), view('Paused', list(1, false))]);
		expect((await wait()).end).toMatchObject({
			outcome: 'paused',
			note: expect.stringContaining('activated again'),
		});
	});

	test.each([
		new NotSent('no', forEveryone('way')),
		new OutcomeUnknown('slow', forEveryone('wait')),
	])('a later read may fail: %p', async (fault) => {
		const open = view('Active', list(1, false));
		const { wait } = scripted([open, fault, fault, view('Active', list(1, true))]);
		expect((await wait()).end.outcome).toBe('completed');
	});

	test('reports a failed read at the limit', async () => {
		const fault = new OutcomeUnknown(
			'The service responded with 503',
			forEveryone('Try again later.'),
		);
		const { wait } = scripted([view('Active', list(1, true), list(2, false)), fault]);
		expect(await wait()).toMatchObject({
			end: {
				outcome: 'timed_out',
				note: "The time limit passed after 5 minutes, and the campaign couldn't be read at the end. When it was last read, these contact lists weren't completed: 2.",
			},
			notRead: 'The service responded with 503. Try again later.',
		});
		const idle = await scripted([view('Active'), fault]).wait();
		expect(idle.end.note).toMatch(/When it was last read, no contact list was in progress\.$/);
	});

	test.each([
		[false, 'The service is down. Look at its status page.'],
		[true, 'The service is down. Try again later.'],
	])('reports a failed read to its reader (a model: %p)', async (isTool, notRead) => {
		const advice = { onScreen: 'Look at its status page.', forModel: 'Try again later.' };
		const fault = new OutcomeUnknown('The service is down', advice);
		const { wait } = scripted([view('Active', list(1, false)), fault]);
		expect(await wait({ isTool })).toMatchObject({ notRead });
	});

	test('only a successful read ends the wait', async () => {
		const fault = new OutcomeUnknown('slow', forEveryone('wait'));
		const { wait } = scripted([
			view('Active', unreleased(2)),
			...Array.from({ length: 8 }, () => fault),
			view('Active', list(2, true)),
		]);
		const { end } = await wait({ limitMs: 3_600_000, contactListId: 2 });
		expect(end.outcome).toBe('completed');
	});

	test('throws if the first read fails, or for a rejection', async () => {
		const { wait } = scripted([new NotSent('unreachable', forEveryone('check'))]);
		await expect(wait()).rejects.toThrow('unreachable');
		const later = scripted([
			view('Active', list(1, false)),
			new InvalidInput('rejected', forEveryone('x')),
		]);
		await expect(later.wait()).rejects.toThrow('rejected');
	});
});
