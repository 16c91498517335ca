import fc from 'fast-check';
import type { Outcome } from '../../../../nodes/shared/api/errors';
import {
	type ChatLease,
	type LeaseOptions,
	SharedConnections,
} from '../../../../nodes/shared/chat/sharedConnections';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import type { JsonValue } from '../../../../nodes/shared/json';
import { turnFault } from '../../../../nodes/ChatSend/turnFault';
import { FakeClock, hideApiToken, messageFrame } from './fakes';
import { RandomService, Sent, session, type Session, type Step } from './randomService';

/** What the node reports for one message: its reply, or the outcome. */
type Reported = { outcome: 'accepted' | Outcome; reply: JsonValue };

type Result = { sent: Sent; reported: Reported };

const SESSION = '3b241101-e2bb-4255-8caf-4136c566a962';

class Run {
	private readonly clock = new FakeClock();
	private readonly random = () => 0.5;
	private readonly service: RandomService;
	private readonly shared: SharedConnections;

	constructor(plan: Session) {
		const { clock, random } = this;
		this.service = new RandomService(plan, clock);
		const { openSocket } = this.service;
		this.shared = new SharedConnections({ openSocket, clock, random });
	}

	/** Sends one message after another, like the items of an execution. */
	async sequentially(steps: Step[]): Promise<Result[]> {
		const results: Result[] = [];
		for (const [index, step] of steps.entries()) {
			const sent = new Sent(step, step.text);
			this.service.sentWith = () => sent;
			results.push(...(await this.until([this.send(sent, index)])));
		}
		return results;
	}

	/** Sends each message in its own execution. */
	async concurrently(steps: Step[]): Promise<Result[]> {
		const all = steps.map((step, index) => new Sent(step, `${step.text} ${index}`));
		this.service.sentWith = (text) => {
			const sent = all.find((one) => one.text === text);
			if (sent === undefined) throw new Error('an unknown message');
			return sent;
		};
		return await this.until(all.map(async (sent, index) => await this.send(sent, index)));
	}

	/** The same while a trigger keeps the session connected. Returns the events that the trigger got, and that the sockets got. */
	async besideTrigger(
		steps: Step[],
	): Promise<{ results: Result[]; got: string[]; sent: string[] }> {
		const got: string[] = [];
		let sent: string[] | null = null;
		const trigger = this.lease('trigger', {
			onEvent: ({ eventId }) => got.push(String(eventId)),
			onEnded: () => {
				sent = this.service.eventIds;
			},
		});
		const results = await this.concurrently(steps);
		await this.clock.advance(400_000);
		sent ??= this.service.eventIds;
		trigger.close();
		await this.clock.advance(10_000);
		return { results, got, sent };
	}

	/** Advances the clock until the node has reported all outcomes. */
	private async until(results: Array<Promise<Result>>): Promise<Result[]> {
		const all = Promise.all(results);
		const done = new AbortController();
		void all.finally(() => done.abort());
		for (let seconds = 0; !done.signal.aborted; seconds++) {
			if (seconds > 3_000) throw new Error('the node never returned');
			await this.clock.advance(1_000);
		}
		return await all;
	}

	private async send(sent: Sent, index: number): Promise<Result> {
		const { step } = sent;
		await this.clock.sleep(step.pauseSeconds * 1_000);
		const lease = this.lease();
		if (step.stopAfter !== null) {
			void this.clock.sleep(step.stopAfter * 1_000).then(() => lease.close());
		}
		const reported = await this.report(lease, sent, index);
		lease.close();
		return { sent, reported };
	}

	private lease(
		usedBy: LeaseOptions['usedBy'] = 'action',
		changes: Partial<LeaseOptions> = {},
	): ChatLease {
		return this.shared.lease({
			...changes,
			sessionId: SESSION,
			baseUrl: 'https://api.example.com',
			account: 'a',
			instanceId: 'i',
			usedBy,
			disconnectOther: false,
			mintToken: this.service.mint,
			hideApiToken,
			log: { debug: () => {}, info: () => {}, warn: () => {} },
		});
	}

	private async report(lease: ChatLease, sent: Sent, index: number): Promise<Reported> {
		const { clock, random } = this;
		const { step, text } = sent;
		const key = step.key === 'own' ? `own-${index}` : (step.key ?? '');
		const ids = { messageId: step.messageId, idempotencyKey: key };
		const options = { clock, random };
		const outcome = await sendTurn(lease, messageFrame(text, ids), options);
		const fault = turnFault(outcome);
		if (fault !== null) return { outcome: fault.outcome, reply: null };
		const { reply = null } = 'ack' in outcome ? outcome.ack.payload : {};
		return { outcome: 'accepted', reply };
	}
}

/** Fails if the node reported something untrue. */
function check({ sent, reported }: Result): void {
	const { step, turns, attempts } = sent;
	if (reported.reply !== null && reported.reply !== '')
		expect(turns.map(({ reply }) => reply)).toContain(reported.reply);
	if (reported.outcome === 'accepted') expect(turns).not.toEqual([]);
	if (reported.outcome === 'not_sent' || reported.outcome === 'rejected') expect(turns).toEqual([]);
	if (step.key === null) expect(attempts).toBeLessThanOrEqual(1);
	expect(new Set(turns).size).toBeLessThanOrEqual(1);
}

describe.each(['sequentially', 'concurrently'] as const)(
	'a service that does anything the document allows, messages %s',
	(how) => {
		it('a reply belongs to its message or is null, and every outcome is true', async () => {
			expect.hasAssertions();
			await fc.assert(
				fc.asyncProperty(session, async (plan) => {
					const run = new Run(plan);
					for (const one of await run[how](plan.steps)) check(one);
				}),
				{ numRuns: Number(process.env.FUZZ_RUNS ?? 250) },
			);
		}, 600_000);
	},
);

describe('a service that does anything the document allows, beside a trigger', () => {
	it('the trigger gets each event of its sockets once, and every outcome is true', async () => {
		await fc.assert(
			fc.asyncProperty(session, async (plan) => {
				const run = new Run(plan);
				const { results, got, sent } = await run.besideTrigger(plan.steps);
				results.forEach(check);
				expect(got).toEqual([...new Set(got)]);
				expect(got.toSorted()).toEqual(sent.toSorted());
			}),
			{ numRuns: Number(process.env.FUZZ_RUNS ?? 250) },
		);
	}, 600_000);
});
