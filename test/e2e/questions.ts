import { z } from 'zod';
import type { N8nDriver } from '../n8n/driver';
import { until } from '../n8n/until';
import type { Simulator } from '../simulator';

/** The phone number of the approver, and the key of the captured answer. */
export const APPROVER = '9000000001';
export const KEY = 'answer_to_question';

const statusSchema = z.object({ status: z.string() });

/**
 * Answers each question as soon as it is asked, until the execution has ended.
 *
 * @param answers in the order of the questions; further answers are "yes"
 * @returns the final status of the execution
 */
export async function answerQuestions(
	{ n8n, simulator }: { n8n: N8nDriver; simulator: Simulator },
	id: string,
	...answers: string[]
): Promise<string> {
	const answered = new Set<string>();
	return await until(
		`execution ${id} to end`,
		async () => {
			const { status } = statusSchema.parse(await n8n.request('GET', `/executions/${id}`));
			if (!['new', 'running', 'waiting'].includes(status)) return status;
			const question = simulator
				.placedCalls()
				.find(({ callId, phone }) => phone === `+91${APPROVER}` && !answered.has(callId));
			if (question === undefined) return undefined;
			answered.add(question.callId);
			const answer = answers.shift() ?? 'yes';
			await simulator.completeCall(question.callId, { data_captured: { [KEY]: answer } });
			return undefined;
		},
		{ timeout: 90_000 },
	);
}
