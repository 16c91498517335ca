import fc from 'fast-check';
import {
	type LeaseOptions,
	SharedConnections,
} from '../../../../nodes/shared/chat/sharedConnections';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import { turnFault } from '../../../../nodes/ChatSend/turnFault';
import { FakeClock, leaseOptions, messageFrame } from './fakes';
import { RandomService, Sent, session, type Session, type Step } from './randomService';

/** A message, its reported outcome, and its reply. */
type Result = { sent: Sent; outcome: string; reply: unknown };

class Run {
	private readonly clock = new FakeClock();
	private readonly parts = { clock: this.clock, random: () => 0.5 };
	private readonly service: RandomService;
	private readonly shared: SharedConnections;

	constructor(plan: Session) {
		this.service = new RandomService(plan, this.clock);
		const { openSocket } = this.service;
		this.shared = new SharedConnections({ openSocket, ...this.parts });
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

	/** The same while a trigger keeps the session connected. It gets each event of its sockets once. */
	async besideTrigger(steps: Step[]): Promise<Result[]> {
		const got: string[] = [];
		let passed: string[] | null = null;
		const trigger = this.lease({
			usedBy: 'trigger',
			onEvent: ({ eventId }) => got.push(String(eventId)),
			onEnded: () => (passed = [...this.service.delivered]),
		});
		const results = await this.concurrently(steps);
		await this.clock.advance(400_000);
		passed ??= [...this.service.delivered];
		trigger.close();
		await this.clock.advance(10_000);
		expect(got.toSorted()).toEqual(passed.toSorted());
		return results;
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
		const { text, step } = sent;
		await this.clock.sleep(step.pauseSeconds * 1_000);
		const lease = this.lease();
		if (step.stopAfter !== null) {
			void this.clock.sleep(step.stopAfter * 1_000).then(() => lease.close());
		}
		const idempotencyKey = step.key === 'own' ? `own-${index}` : (step.key ?? '');
		const frame = messageFrame(text, { messageId: step.messageId, idempotencyKey });
		const outcome = await sendTurn(lease, frame, this.parts);
		lease.close();
		const fault = turnFault(outcome);
		if (fault !== null) return { sent, outcome: fault.outcome, reply: null };
		const { reply = null } = 'ack' in outcome ? outcome.ack.payload : {};
		return { sent, outcome: 'accepted', reply };
	}

	private lease(options: Partial<LeaseOptions> = {}) {
		return this.shared.lease({ ...leaseOptions, ...options, mintToken: this.service.mint });
	}
}

/** Fails if the node reported something untrue. */
function check({ sent: { step, turns, attempts }, outcome, reply }: Result): void {
	if (reply !== null && reply !== '') expect(turns.map((turn) => turn.reply)).toContain(reply);
	if (outcome === 'accepted') expect(turns).not.toEqual([]);
	if (outcome === 'not_sent' || outcome === 'rejected') expect(turns).toEqual([]);
	if (step.key === null) expect(attempts).toBeLessThanOrEqual(1);
	expect(new Set(turns).size).toBeLessThanOrEqual(1);
}

test.each(['sequentially', 'concurrently', 'besideTrigger'] as const)(
	'with a service that does anything the document allows, a reply belongs to its message or is null, and every outcome is true: %s',
	async (how) => {
		expect.hasAssertions();
		await fc.assert(
			fc.asyncProperty(session, async (plan) => {
				for (const one of await new Run(plan)[how](plan.steps)) check(one);
			}),
			{ numRuns: Number(process.env.FUZZ_RUNS ?? 250) },
		);
	},
	600_000,
);
