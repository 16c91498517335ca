import fastify from 'fastify';
import { z } from 'zod';
import { serviceHost } from './ports';

/** One response of the model: tool requests, or its final text. */
export type Step =
	| { calls: Array<{ tool: string; args?: Record<string, unknown> }> }
	| { text: string }
	/** The model never responds. */
	| { hangs: true }
	/** The model rejects the request. */
	| { fails: true };

const offered = z.object({
	name: z.string(),
	description: z.string(),
	parameters: z.object({ properties: z.record(z.object({ description: z.string().optional() })) }),
});
/** A tool as n8n describes it to the model. */
export type OfferedTool = z.infer<typeof offered>;

const request = z.object({
	tools: z.array(z.object({ function: offered })).default([]),
	messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
});

/** A model that follows a script, with a chat completions API. */
export class ScriptedModel {
	private readonly server = fastify();
	private script: Step[] = [];
	private responses = 0;
	private tools: z.infer<typeof request>['tools'] = [];
	private messages: z.infer<typeof request>['messages'] = [];

	/** @returns its base URL */
	async listen(): Promise<string> {
		this.server.post('/v1/chat/completions', async ({ body }) => await this.respond(body));
		return `${await this.server.listen({ host: serviceHost, port: 0 })}/v1`;
	}

	follow(...script: Step[]): void {
		this.script = script;
	}

	/** The tools in the last request. */
	offered(): OfferedTool[] {
		return this.tools.map((tool) => tool.function);
	}

	/** The tool results in the last request. */
	toolResults(): string[] {
		return this.messages
			.filter(({ role }) => role === 'tool')
			.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
	}

	async stop(): Promise<void> {
		this.server.server.closeAllConnections();
		await this.server.close();
	}

	/** Whether the model has sent every step of the script. */
	get isAtEnd(): boolean {
		return this.script.length === 0;
	}

	private async respond(body: unknown): Promise<object> {
		({ messages: this.messages, tools: this.tools } = request.parse(body));
		const step = this.script.shift() ?? { text: 'There is nothing left to do.' };
		if ('hangs' in step) return await new Promise<never>(() => undefined);
		if ('fails' in step) throw Object.assign(new Error('The model fails'), { statusCode: 400 });
		const id = `turn-${++this.responses}`;
		return {
			id,
			object: 'chat.completion',
			created: 0,
			model: 'scripted',
			choices: [{ index: 0, ...choice(step, id) }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		};
	}
}

function choice(step: Exclude<Step, { hangs: true } | { fails: true }>, id: string): object {
	if ('text' in step) {
		return { finish_reason: 'stop', message: { role: 'assistant', content: step.text } };
	}
	const toolCalls = step.calls.map(({ tool, args = {} }, index) => ({
		id: `${id}-call-${index}`,
		type: 'function',
		function: { name: tool, arguments: JSON.stringify(args) },
	}));
	return {
		finish_reason: 'tool_calls',
		message: { role: 'assistant', content: null, tool_calls: toolCalls },
	};
}
