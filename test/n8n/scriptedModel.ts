import fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';

/** One turn of the model: tools that it calls, or what it says at the end. */
export type Step =
	| { calls: Array<{ tool: string; args?: Record<string, unknown> }> }
	| { text: string }
	/** The model never responds. */
	| { hangs: true };

const offered = z.object({
	name: z.string(),
	description: z.string(),
	parameters: z.object({ properties: z.record(z.object({ description: z.string().optional() })) }),
});
/** A tool as the model is offered it. */
export type OfferedTool = z.infer<typeof offered>;

const request = z.object({
	tools: z.array(z.object({ function: offered })).default([]),
	messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
});

/** A model that follows a script, behind the address of a chat completions API. */
export class ScriptedModel {
	private script: Step[] = [];
	private answers = 0;
	private tools: z.infer<typeof request>['tools'] = [];
	private messages: z.infer<typeof request>['messages'] = [];

	baseUrl = '';

	private constructor(private readonly server: FastifyInstance) {}

	static async start(): Promise<ScriptedModel> {
		const server = fastify();
		const model = new ScriptedModel(server);
		server.post('/v1/chat/completions', async ({ body }) => await model.answer(body));
		model.baseUrl = `${await server.listen({ host: '127.0.0.1', port: 0 })}/v1`;
		return model;
	}

	follow(...script: Step[]): void {
		this.script = script;
	}

	/** The tools of its last request. */
	offered(): OfferedTool[] {
		return this.tools.map((tool) => tool.function);
	}

	/** What the model was told of its tool calls, in its last request. */
	toolResults(): string[] {
		return this.messages
			.filter(({ role }) => role === 'tool')
			.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
	}

	async stop(): Promise<void> {
		this.server.server.closeAllConnections();
		await this.server.close();
	}

	/** Whether the script has been played to its end. */
	get isAtEnd(): boolean {
		return this.script.length === 0;
	}

	private async answer(body: unknown): Promise<object> {
		({ messages: this.messages, tools: this.tools } = request.parse(body));
		const turn = this.script.shift() ?? { text: 'There is nothing left to do.' };
		if ('hangs' in turn) return await new Promise<never>(() => undefined);
		const id = `turn-${++this.answers}`;
		return {
			id,
			object: 'chat.completion',
			created: 0,
			model: 'scripted',
			choices: [{ index: 0, ...choice(turn, id) }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		};
	}
}

function choice(turn: Exclude<Step, { hangs: true }>, id: string): object {
	if ('text' in turn) {
		return { finish_reason: 'stop', message: { role: 'assistant', content: turn.text } };
	}
	const toolCalls = turn.calls.map(({ tool, args = {} }, index) => ({
		id: `${id}-call-${index}`,
		type: 'function',
		function: { name: tool, arguments: JSON.stringify(args) },
	}));
	return {
		finish_reason: 'tool_calls',
		message: { role: 'assistant', content: null, tool_calls: toolCalls },
	};
}
