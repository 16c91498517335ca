import type { INode, ITaskData } from 'n8n-workflow';
import { z } from 'zod';
import type { Step } from '../n8n/scriptedModel';
import type { SlackMessage } from '../n8n/thirdParties/slack';
import { until } from '../n8n/until';
import { fixtures, type CallOutcome } from '../simulator';
import { useModel } from './callingAgent';
import { firstReading, placeCalls } from './calls';
import { SHEET, useExamples, withSettings, type Imported } from './exampleRun';

const { agents, sessions } = fixtures;

/** The agents of the account that can take calls. */
const ACTIVE = [agents.full, agents.noAnalysis, agents.noNumber, agents.us].sort();

const SECRET = 'sesame';

/** Enters the secret of Chat Events, and changes the node further. */
const withSecret =
	(change = (node: INode) => node) =>
	(node: INode): INode =>
		node.name === 'Chat Events'
			? { ...node, parameters: { ...node.parameters, watchSecret: SECRET } }
			: change(node);

describe('examples of chats, with only the credentials and the secret entered', () => {
	const run = useExamples();
	const { model } = useModel(run.n8n, run.credentials);

	/** Sends a watch request to the trigger of a published workflow, as another workflow or system does. */
	async function watch(webhookId: string | undefined, sessionId: string): Promise<void> {
		const request = { action: 'watch', session_ids: [sessionId] };
		const headers = { 'x-watch-secret': SECRET };
		// Returns 503 until the workflow is published.
		await until('the watch request to be accepted', async () => {
			return (await run.n8n.webhook(`${webhookId}/watch`, request, headers)).ok;
		});
		await until('the socket', () => run.simulator.sessions.openSockets(sessionId) === 1);
	}

	describe('06 opt-outs', () => {
		let workflow: Imported;
		const idOf = (name: string) =>
			workflow.json.nodes.find((node) => node.name === name)?.webhookId;

		const say = (content: string, role = 'user') =>
			run.simulator.sessions.pushEvent(sessions.open, 'message_received', {
				id: content,
				type: 'message',
				role,
				content,
				created_at: new Date().toISOString(),
			});

		/** Places one call per outcome, and ends it. */
		async function called(...outcomes: CallOutcome[]): Promise<string[]> {
			const ids = await placeCalls(run.simulator, outcomes.length, 'https://example.com');
			for (const [index, id] of ids.entries()) await run.simulator.endCall(id, outcomes[index]);
			return ids;
		}

		/** The agents with this number on their list. */
		const listed = (phone: string) =>
			run.simulator.state.dnd
				.filter((entry) => entry.phone === phone)
				.map((entry) => entry.agentUuid)
				.sort();

		/** Publishes it again, because that begins with a reading, and others are a minute apart. */
		async function readCalls(): Promise<void> {
			await run.n8n.deactivate(workflow);
			await run.n8n.activate(workflow);
		}

		beforeAll(async () => {
			workflow = await run.publish('06-opt-outs.json', withSecret());
			// Calls that have ended before it start nothing.
			await firstReading(run.n8n, workflow);
		});
		beforeEach(() => run.parties.sheets.setSpreadsheet(SHEET, { Register: [] }));

		it('adds the number to the list of each active agent, and each request to the register', async () => {
			await called(
				{ data_captured: { opt_out: 'Yes.' }, summary: 'Wants no more calls.' },
				{ data_captured: { opt_out: 'no' } },
			);
			const checked = Date.now();
			await readCalls();
			await until('the list', () => listed('+919000000000').length === ACTIVE.length);
			// As example 06 says.
			expect(Date.now() - checked).toBeLessThan(60_000);
			await watch(idOf('Chat Events'), sessions.open);
			say('STOP +91 98111 22333');
			say('Never call');
			say('I do not know which phone to buy.');
			say('To opt out, write so.', 'ai');
			await run.ended(workflow, 5);
			for (const phone of ['+919000000000', '+919811122333']) {
				expect(listed(phone)).toEqual(ACTIVE);
			}
			expect(run.simulator.state.dnd.some(({ phone }) => phone === '+919000000001')).toBe(false);
			const rows = run.parties.sheets.rows('Register');
			const added = (phone: string) =>
				ACTIVE.map((agent) => [phone, agent, 'on the do-not-disturb list']);
			expect(rows.map(({ phone, agent_id, result }) => [phone, agent_id, result]).sort()).toEqual(
				[
					...added('+91 98111 22333'),
					...added('+919000000000'),
					['', 'all', 'NOT on a list: no phone number after the request'],
				].sort(),
			);
		});

		it('adds in the morning who opted out in a call whose answers were captured late, once', async () => {
			const [early = '', late = ''] = await called(
				{ data_captured: { opt_out: 'yes' } },
				{ data_captured: null },
			);
			await readCalls();
			await until('the list', () => listed('+919000000000').length === ACTIVE.length);
			await run.ended(workflow, 1);
			expect(listed('+919000000001')).toEqual([]);
			await run.simulator.endCall(late, { data_captured: { opt_out: 'yes' } });
			const calls = () => run.parties.sheets.rows('Register').map(({ where }) => where);
			const inTheMorning = async () => {
				await run.run(workflow, 'Every Morning');
				expect(listed('+919000000001')).toEqual(ACTIVE);
				expect(calls().sort()).toEqual(
					[early, late].flatMap((id) => ACTIVE.map(() => `call ${id}`)).sort(),
				);
			};
			await inTheMorning();
			await inTheMorning();
		});

		it('leaves everything that may be a request to a person, and adds nobody for it', async () => {
			const count = () => run.simulator.state.dnd.length;
			const before = count();
			await called(
				{ data_captured: { opt_out: 'maybe later' } },
				{ data_captured: { opt_out: 'not said' } },
				{ data_captured: null, summary: 'Wants no more calls.' },
			);
			await readCalls();
			await watch(idOf('Chat Events'), sessions.open);
			const doubtful = [
				'Could your people perhaps leave me alone?',
				"I don't want any calls",
				'Please stop calling me at +91 98111 22333!',
			];
			const clear = [
				'STOP',
				'no more calls',
				"Don't call the office, call my mobile 98111 22333",
				'Take me off your list',
			];
			for (const content of ['What does it cost?', ...doubtful, ...clear]) say(content);
			const rows = await until('the register', async () => {
				const written = run.parties.sheets.rows('Register');
				return await Promise.resolve(written.length === 8 && written);
			});
			await run.ended(workflow, 9);
			expect(run.parties.sheets.rows('Register')).toHaveLength(8);
			expect(count()).toBe(before);
			const wordsOf = (result: string) =>
				rows.filter((row) => row.result === result).map(({ words }) => words);
			expect(wordsOf('CHECK: may ask for no more calls').sort()).toEqual(
				[...doubtful, 'maybe later'].sort(),
			);
			expect(wordsOf('NOT on a list: no phone number after the request').sort()).toEqual(
				clear.sort(),
			);
		});
	});

	describe('09 chat needs a person', () => {
		/** Submits the form that the button in the message opens. */
		async function answer(message: SlackMessage | undefined, ...values: string[]): Promise<void> {
			const [, address = ''] = /"url":"([^"]+)"/.exec(JSON.stringify(message)) ?? [];
			const form = new FormData();
			values.forEach((value, index) => form.set(`field-${index}`, value));
			expect(await press(address)).toContain('Hand the chat back to the agent');
			expect((await fetch(address, { method: 'POST', body: form })).status).toBe(200);
		}

		it('alerts the team once, and hands the chat back with the note and the summary of the call', async () => {
			const settings = withSecret(withSettings({ hand_back_command: 'release' }));
			const workflow = await run.publish('09-chat-needs-a-person.json', settings);
			const trigger = workflow.json.nodes.find(({ name }) => name === 'Chat Events');
			await watch(trigger?.webhookId, sessions.dormant);
			const { messages } = run.parties.slack;
			const asked = async (count: number) =>
				await until('the message', () => messages.length === count);
			const session = () => run.simulator.state.sessions.get(sessions.dormant);
			const callWith = async (summary: string) => {
				const [callId = ''] = await placeCalls(run.simulator, 1, 'https://example.com');
				await run.simulator.completeCall(callId, { summary });
				return run.simulator.state.calls.get(callId);
			};
			const latest = await callWith('Wants a visit on Saturday.');
			const earlier = await callWith('Asked for the price.');
			// The service doesn't say in which order it lists calls.
			if (earlier !== undefined) earlier.createdAt = '2026-01-05T10:00:00+05:30';
			expect(latest?.createdAt).toBeDefined();

			run.simulator.sessions.setMode(sessions.dormant, 'support');
			await asked(1);
			expect(messages[0]?.channel).toBe('#support');
			expect(JSON.stringify(messages[0])).toContain(sessions.dormant);
			await answer(messages[0], 'The price is fixed.', '9000000000');
			// The second execution is for the change back to the agent.
			await run.ended(workflow, 2);
			const note = 'The price is fixed.\nSummary of our phone call: Wants a visit on Saturday.';
			expect(session()).toMatchObject({ mode: 'ai' });
			expect(session()?.context.slice(-1)).toEqual([note]);

			// With a number that was never called, only the note is added.
			run.simulator.sessions.setMode(sessions.dormant, 'support');
			await asked(2);
			await answer(messages[1], 'She is a member.', '9111111111');
			await run.ended(workflow, 4);
			expect(session()).toMatchObject({ mode: 'ai' });
			expect(session()?.context.slice(-2)).toEqual([note, 'She is a member.']);
			expect(messages).toHaveLength(2);
			await run.n8n.deactivate(workflow);
		});
	});

	/** Sends a chat message in the editor. Returns the execution ID. */
	async function startChat(workflow: Imported, text: string): Promise<string> {
		const started = await run.n8n.request('POST', `/workflows/${workflow.id}/run`, {
			triggerToStartFrom: { name: 'Chat', data: chatMessage(text) },
		});
		return z.object({ executionId: z.string() }).parse(started).executionId;
	}

	describe('10 AI agent that asks before it calls', () => {
		const toolRequest = {
			calls: [
				{
					tool: 'Place_Call',
					args: {
						toolParameters: {
							phone: '+91 98765 43210',
							person_name: 'Asha Rao',
							task: 'Ask which day suits a visit.',
						},
						hitlParameters: {},
					},
				},
			],
		};

		/** Sends a chat message, presses a button in the email, and returns the tool results. */
		async function ask(button: 'Call' | 'Do not call'): Promise<string[]> {
			const workflow = await run.import('10-agent-with-approval.json');
			model.follow(toolRequest, { text: 'done' });
			const executionId = await startChat(workflow, 'Call Asha Rao on +91 98765 43210.');
			const { mails } = run.parties.gmail;
			await until('the mail', () => mails.length === 1);
			expect(mails[0]).toMatchObject({ to: 'manager@example.com' });
			expect(mails[0]?.body).toContain('+91 98765 43210');
			expect(mails[0]?.body).toContain('Ask which day suits a visit.');
			expect(run.simulator.placedCalls()).toEqual([]);
			const links = [...(mails[0]?.body ?? '').matchAll(/href="([^"]+)"[^>]*>([^<]+)</g)];
			const [, address = ''] = links.find(([, , label]) => label?.trim() === button) ?? [];
			await press(address.replaceAll('&amp;', '&'));
			expect((await run.n8n.finished(executionId)).status).toBe('success');
			return model.toolResults();
		}

		it('calls once after a person has approved', async () => {
			const results = await ask('Call');
			expect(run.simulator.placedCalls()).toMatchObject([
				{
					phone: '+919876543210',
					callerName: 'Asha Rao',
					request: { additional_data: { task: 'Ask which day suits a visit.' } },
				},
			]);
			expect(results.join()).toContain('"outcome":"done"');
		});

		it('calls nobody if the person declines, and reports it to the model', async () => {
			const results = await ask('Do not call');
			expect(run.simulator.placedCalls()).toEqual([]);
			expect(results.join()).toMatch(/declined|denied|rejected|not approved/i);
		});
	});

	describe('11 AI agent that asks by phone', () => {
		const columns = ['order', 'amount', 'reason'];
		const refund = { order: 'A-1042', amount: 4500, reason: 'It came broken.' };

		const question = 'May we refund 4500 rupees for order A-1042, which came broken?';
		const asks: Step = { calls: [{ tool: 'Ask_by_Phone', args: { question } }] };
		const writes: Step = { calls: [{ tool: 'Write_Refund', args: refund }] };

		/** Sends a chat message, completes the call, and returns the tool results. */
		async function ask(outcome: CallOutcome, ...then: Step[]): Promise<string> {
			run.parties.sheets.setSpreadsheet(SHEET, { Refunds: [columns] });
			const workflow = await run.import('11-agent-asks-by-phone.json');
			model.follow(asks, ...then, { text: 'done' });
			const executionId = await startChat(workflow, 'Refund 4500 for order A-1042.');
			const { simulator } = run;
			await until('the call', () => simulator.placedCalls().length === 1);
			expect(simulator.placedCalls()).toMatchObject([
				{
					phone: '+919876543210',
					callerName: 'Asha Rao',
					request: {
						initial_greeting: 'Hello Asha Rao, I have a question about a refund.',
						data_extraction: [{ description: question, output_format: 'yes or no' }],
					},
				},
			]);
			expect(run.parties.sheets.rows('Refunds')).toEqual([]);
			await simulator.completeCall(simulator.placedCalls()[0]?.callId ?? '', outcome);
			expect((await run.n8n.finished(executionId)).status).toBe('success');
			expect(simulator.placedCalls()).toHaveLength(1);
			return model.toolResults().join();
		}

		it('acts after a yes on the phone', async () => {
			const results = await ask({ data_captured: { answer_to_question: 'Yes' } }, writes);
			expect(results).toContain('"answer":"yes"');
			expect(run.parties.sheets.rows('Refunds')).toEqual([refund]);
		});
	});
});

/** A browser's user agent, because n8n ignores approvals from link previews. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Opens the link of a button. Retries, because the execution starts to wait a moment after the link was sent. */
async function press(url: string): Promise<string> {
	return await until('the execution to wait', async () => {
		const response = await fetch(url, { headers: { 'user-agent': BROWSER } });
		return response.ok && (await response.text());
	});
}

/** The input of a workflow from the chat in the editor. */
function chatMessage(chatInput: string): ITaskData {
	const item = { json: { action: 'sendMessage', sessionId: 'a chat', chatInput } };
	return {
		startTime: Date.now(),
		executionTime: 0,
		executionIndex: 0,
		executionStatus: 'success',
		source: [],
		data: { main: [[item]] },
	};
}
