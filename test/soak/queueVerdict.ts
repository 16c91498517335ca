/** Holds what the service was asked for against what n8n's database says of it. */
import { parse } from 'flatted';
import countBy from 'lodash/countBy';
import { z } from 'zod';
import type { QueueStores } from '../n8n/queueStores';
import { fixtures, type Simulator } from '../simulator';
import type { QueueLoad, Wish } from './queueLoad';

const storedRows = z.array(
	z.object({ id: z.number(), status: z.string(), workflow: z.string(), data: z.string() }),
);
const item = z.object({ json: z.object({ timed_out: z.boolean().optional() }).passthrough() });
const stored = z.object({
	resultData: z.object({
		error: z.object({ message: z.string() }).passthrough().optional(),
		runData: z.record(
			z.array(z.object({ data: z.object({ main: z.array(z.array(item).nullable()) }).optional() })),
		),
	}),
});

/** One execution, as n8n has stored it. */
type Execution = {
	id: number;
	status: string;
	workflow: string;
	text: string;
	/** Whether its trigger had something to pass on. */
	hasRun: boolean;
	error: string;
	/** Of its last node. */
	items: Array<z.infer<typeof item>['json']>;
};

export function readExecutions(stores: QueueStores): Execution[] {
	const rows = storedRows.parse(
		stores.ask(`select e.id, e.status, w.name as workflow, d.data from execution_entity e
			join execution_data d on d."executionId" = e.id join workflow_entity w on w.id = e."workflowId"`),
	);
	return rows.map(({ data, ...row }) => {
		const { runData, error } = stored.parse(parse(data)).resultData;
		const last = runData.After?.at(-1)?.data?.main[0] ?? [];
		return {
			...row,
			text: data,
			hasRun: 'After' in runData,
			error: error?.message ?? '',
			items: last.map(({ json }) => json),
		};
	});
}

/** n8n itself says that these did not come to their end. */
const NAMED = ['crashed', 'error', 'canceled'];

export function judge(load: QueueLoad, simulator: Simulator, executions: readonly Execution[]) {
	const people = judgePeople(load.wishes, simulator, executions);
	const events = judgeOnce(
		load.nudges,
		executions.filter(({ workflow }) => workflow === 'nudged'),
	);
	const completed = executions.filter(({ workflow }) => workflow === 'completed');
	const calls = judgeOnce(
		load.reported.map(({ callId }) => callId),
		completed,
	);
	const answersOf = (callId: string) =>
		load.reported.find((one) => one.callId === callId)?.answers.join() ?? '';
	const deliveries = load.reported.flatMap(({ answers }) => answers);
	const woken = executions.filter(({ workflow }) => workflow === 'asleep');
	const unended = executions.filter(({ status }) => !['success', ...NAMED].includes(status));
	return {
		executions: countBy(executions, ({ workflow, status }) => `${workflow}: ${status}`),
		reasons: countBy(
			executions.filter(({ status }) => NAMED.includes(status)),
			({ status, error }) => `${status}: ${error}`,
		),
		wishes: countBy(load.wishes, ({ answer }) => String(answer)),
		deliveries: countBy(deliveries, String),
		people,
		calls: { ...calls, lost: calls.lost.map((callId) => `${callId}: ${answersOf(callId)}`) },
		events,
		waits: countBy(
			woken.flatMap(({ items }) => items),
			({ timed_out: timedOut }) => (timedOut === false ? 'known' : 'not known at the limit'),
		),
		unexplained: [...people.unexplained, ...unended.map(({ id, status }) => `${id}: ${status}`)],
	};
}

/** Each person was reached once, or an execution that says that it did not end names them, or n8n never answered. */
function judgePeople(
	wishes: readonly Wish[],
	simulator: Simulator,
	executions: readonly Execution[],
) {
	const fed = countBy(simulator.contactsOf(fixtures.campaigns.active), ({ phone }) =>
		phone.slice(-10),
	);
	const called = countBy(simulator.placedCalls(), ({ phone }) => phone.slice(-10));
	const named: string[] = [];
	const unanswered: string[] = [];
	const unexplained: string[] = [];
	const doubled: string[] = [];
	let once = 0;
	for (const { kind, people, answer } of wishes) {
		const begun = executions.filter(({ text, workflow }) => {
			return workflow === kind && people.some((phone) => text.includes(`"${phone}"`));
		});
		for (const phone of people) {
			const times = (kind === 'feed' ? fed : called)[phone] ?? 0;
			if (times === 1) once++;
			else if (times > 1) doubled.push(phone);
			else if (begun.some(({ status }) => NAMED.includes(status))) named.push(phone);
			else if (begun.length === 0 && typeof answer !== 'number') unanswered.push(phone);
			else
				unexplained.push(
					`${phone}, ${kind}, answered ${answer}, ${begun.map(({ id, status }) => `${id} ${status}`).join()}`,
				);
		}
		if (begun.length > 1) doubled.push(`${kind} ${people.join()} in ${begun.length} executions`);
	}
	return { once, doubled, named: named.length, unanswered: unanswered.length, unexplained };
}

/** Each is in exactly one execution that had something to do. */
function judgeOnce(ids: readonly string[], executions: readonly Execution[]) {
	const lost: string[] = [];
	const doubled: string[] = [];
	const named: string[] = [];
	for (const id of ids) {
		const those = executions.filter(({ text }) => text.includes(`"${id}"`));
		const started = those.filter(({ hasRun }) => hasRun);
		if (started.length > 1) doubled.push(id);
		else if (started.length === 0 && those.some(({ status }) => NAMED.includes(status)))
			named.push(id);
		else if (started.length === 0) lost.push(id);
	}
	return { sent: ids.length, lost, doubled, named: named.length };
}
