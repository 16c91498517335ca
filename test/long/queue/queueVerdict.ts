/** Compares the requests at the service with the executions in n8n's database. */
import { parse } from 'flatted';
import countBy from 'lodash/countBy';
import groupBy from 'lodash/groupBy';
import isEmpty from 'lodash/isEmpty';
import mapValues from 'lodash/mapValues';
import sortBy from 'lodash/sortBy';
import { z } from 'zod';
import type { QueueStores } from '../../n8n/queueStores';
import { fixtures, type Simulator } from '../../simulator';
import type { QueueLoad, Sent, StartRequest } from './queueLoad';

const storedRows = z.array(
	z.object({
		id: z.number(),
		status: z.string(),
		workflow: z.string(),
		createdAt: z.number(),
		data: z.string(),
	}),
);
const stored = z.object({
	resultData: z.object({
		error: z.object({ message: z.string() }).passthrough().optional(),
		runData: z.record(z.unknown()),
	}),
});

/** One execution, as n8n has stored it. */
export type Execution = {
	id: number;
	status: string;
	workflow: string;
	/** Epoch milliseconds. */
	createdAt: number;
	text: string;
	/** Whether it failed with its worker, so n8n stored neither its input nor its output. */
	hasNoData: boolean;
	/** Whether its trigger returned something. */
	hasRun: boolean;
	error: string;
};

/** Statuses with which n8n reports that an execution didn't finish. */
const FAILED_STATUSES = ['crashed', 'error', 'canceled'];

export function readExecutions(stores: QueueStores): Execution[] {
	const rows = storedRows.parse(
		stores.query(`select e.id, e.status, w.name as workflow, d.data,
				(extract(epoch from e."createdAt") * 1000)::float as "createdAt" from execution_entity e
			join execution_data d on d."executionId" = e.id join workflow_entity w on w.id = e."workflowId" order by e.id`),
	);
	return rows.map(({ data, ...row }) => {
		const { runData, error } = stored.parse(parse(data)).resultData;
		return {
			...row,
			text: data,
			hasNoData: FAILED_STATUSES.includes(row.status) && error !== undefined && isEmpty(runData),
			hasRun: 'After' in runData,
			error: error?.message ?? '',
		};
	});
}

export function evaluate(load: QueueLoad, simulator: Simulator, executions: readonly Execution[]) {
	const of = (name: string) => executions.filter(({ workflow }) => workflow === name);
	const people = evaluatePeople(load.requests, simulator, executions);
	const nudges = load.nudges.map(({ eventId: id, sent }) => ({ id, sent }));
	const events = evaluateOnce(nudges, of('nudged'));
	const reports = load.reported.map(({ callId: id, sent }) => ({ id, sent }));
	const calls = evaluateOnce(reports, of('completed'));
	const answersOf = (callId: string) =>
		load.reported.find((one) => one.callId === callId)?.responses.join() ?? '';
	const deliveries = load.reported.flatMap(({ responses }) => responses);
	const unended = executions.filter(
		({ status }) => !['success', ...FAILED_STATUSES].includes(status),
	);
	return {
		executions: countBy(executions, ({ workflow, status }) => `${workflow}: ${status}`),
		reasons: countBy(
			executions.filter(({ status }) => FAILED_STATUSES.includes(status)),
			({ status, error }) => `${status}: ${error}`,
		),
		requests: countBy(load.requests, ({ response }) => String(response)),
		deliveries: countBy(deliveries, String),
		people,
		calls: { ...calls, lost: calls.lost.map((callId) => `${callId}: ${answersOf(callId)}`) },
		events,
		unexplained: [...people.unexplained, ...unended.map(({ id, status }) => `${id}: ${status}`)],
	};
}

/**
 * Executions whose worker died: n8n shows them as failed, without their data. The start time shows what each was for.
 * Each is matched once.
 */
class ExecutionsWithoutData {
	private readonly remaining: Set<Execution>;

	constructor(executions: readonly Execution[]) {
		this.remaining = new Set(executions.filter(({ hasNoData }) => hasNoData));
	}

	take({ from, to }: Sent): boolean {
		const found = [...this.remaining].find(({ createdAt }) => createdAt >= from && createdAt <= to);
		return found !== undefined && this.remaining.delete(found);
	}
}

/**
 * Each person was reached once, or has an execution that n8n reports as failed, or n8n never responded, or responded that
 * it's starting.
 */
function evaluatePeople(
	requests: readonly StartRequest[],
	simulator: Simulator,
	executions: readonly Execution[],
) {
	const pushed = countBy(simulator.contactsOf(fixtures.campaigns.active), ({ phone }) =>
		phone.slice(-10),
	);
	const called = countBy(simulator.placedCalls(), ({ phone }) => phone.slice(-10));
	const named: string[] = [];
	const inputDropped: string[] = [];
	const unanswered: string[] = [];
	const whileStarting: string[] = [];
	const unexplained: string[] = [];
	const doubled: string[] = [];
	let once = 0;
	const emptied = mapValues(
		groupBy(executions, ({ workflow }) => workflow),
		(those) => new ExecutionsWithoutData(those),
	);
	// An answered request certainly has an execution. In the order of their ends, as many as possible find one.
	const answeredFirst = sortBy(requests, [
		({ response }) => typeof response !== 'number',
		({ sent }) => sent.to,
	]);
	for (const { kind, people, response, sent } of answeredFirst) {
		const begun = executions.filter(({ text, workflow }) => {
			return workflow === kind && people.some((phone) => text.includes(`"${phone}"`));
		});
		const isEmptied = begun.length === 0 && emptied[kind]?.take(sent) === true;
		for (const phone of people) {
			const times = (kind === 'push' ? pushed : called)[phone] ?? 0;
			if (times === 1) once++;
			else if (times > 1) doubled.push(phone);
			else if (begun.some(({ status }) => FAILED_STATUSES.includes(status))) named.push(phone);
			else if (isEmptied) inputDropped.push(phone);
			else if (begun.length === 0 && response === 'starting') whileStarting.push(phone);
			else if (begun.length === 0 && typeof response !== 'number') unanswered.push(phone);
			else
				unexplained.push(
					`${phone}, ${kind}, answered ${response}, ${begun.map(({ id, status }) => `${id} ${status}`).join()}`,
				);
		}
		if (begun.length > 1) doubled.push(`${kind} ${people.join()} in ${begun.length} executions`);
	}
	return {
		once,
		doubled,
		named: named.length,
		inputDropped: inputDropped.length,
		unanswered: unanswered.length,
		whileStarting: whileStarting.length,
		unexplained,
	};
}

/** Each is in exactly one execution that ran, or in one that n8n reports as failed. */
function evaluateOnce(
	things: ReadonlyArray<{ id: string; sent: Sent }>,
	executions: readonly Execution[],
) {
	const lost: string[] = [];
	const doubled: string[] = [];
	const named: string[] = [];
	const inputDropped: string[] = [];
	const emptied = new ExecutionsWithoutData(executions);
	for (const { id, sent } of sortBy(things, ({ sent: { to } }) => to)) {
		const those = executions.filter(({ text }) => text.includes(`"${id}"`));
		const started = those.filter(({ hasRun }) => hasRun);
		if (started.length > 1) doubled.push(id);
		if (started.length > 0) continue;
		if (those.some(({ status }) => FAILED_STATUSES.includes(status))) named.push(id);
		else if (emptied.take(sent)) inputDropped.push(id);
		else lost.push(id);
	}
	return {
		sent: things.length,
		lost,
		doubled,
		named: named.length,
		inputDropped: inputDropped.length,
	};
}
