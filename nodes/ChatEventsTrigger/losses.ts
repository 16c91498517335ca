import { NodeOperationError, type ITriggerFunctions } from 'n8n-workflow';
import { clock } from '../shared/n8n/connect';
import type { ChatEnded } from '../shared/service/chatSocket/endings';
import { pause } from '../shared/service/chatSocket/pause';

type Loss = { sessionId: string; ending: ChatEnded };

/** When the service goes down its sessions are lost one after another: they are told together. */
const GATHER_MS = 15_000;

/** Tells the workflow's owner, by n8n's error workflow, which sessions are followed no longer and why. */
export class Losses {
	private pending: Loss[] = [];

	constructor(
		private readonly context: ITriggerFunctions,
		private readonly signal: AbortSignal,
	) {}

	/** `goesOn`: whether the trigger still has something to do, so that the workflow stays active. */
	add(loss: Loss, goesOn: boolean): void {
		this.pending.push(loss);
		if (!goesOn) this.giveUp();
		else if (this.pending.length === 1) void this.reportLater();
	}

	/** Nothing is left to listen to: n8n takes the trigger down, tells its owner and starts it again by itself. */
	private giveUp(): void {
		const losses = this.take();
		this.context.emitError(lossError(this.context, losses));
	}

	private async reportLater(): Promise<void> {
		await pause(clock, GATHER_MS, this.signal);
		const losses = this.take();
		if (losses.length > 0) this.context.saveFailedExecution(lossError(this.context, losses));
	}

	private take(): Loss[] {
		const losses = this.pending;
		this.pending = [];
		return losses;
	}
}

export function lossError(context: ITriggerFunctions, losses: Loss[]): NodeOperationError {
	const [first] = losses;
	const several = losses.length > 1;
	const message = several
		? `${losses.length} chat sessions are no longer followed`
		: `The chat session ${first?.sessionId ?? ''} is not followed: ${lowerFirst(first?.ending.message ?? '')}`;
	const description = several
		? losses.map(({ sessionId, ending }) => `${sessionId}: ${adviceOf(ending, true)}`).join(' ')
		: adviceOf(first?.ending, false);
	return new NodeOperationError(context.getNode(), message, { description });
}

function adviceOf(ending: ChatEnded | undefined, withMessage: boolean): string {
	if (ending === undefined) return '';
	return `${withMessage ? `${ending.message}. ` : ''}${ending.advice}`;
}

function lowerFirst(text: string): string {
	return text.charAt(0).toLowerCase() + text.slice(1);
}
