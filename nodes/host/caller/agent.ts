import type { IExecuteFunctions } from 'n8n-workflow';
import { plainText } from '../../core/values/values';
import { agentRunOf, isReviewed } from './agentRun';
import { type AskingRow, findAskingRow, withPossible, type Row, TOOL_CALL_ID } from './askingRow';

/** The AI agent that uses the node. What n8n shows of it is found on first use. */
export class Agent {
	private knownRun: string | undefined;
	private knownRow: AskingRow | undefined;

	constructor(private readonly context: IExecuteFunctions) {}

	/** Identifies its run. */
	get run(): string {
		return (this.knownRun ??= agentRunOf(this.context));
	}

	/** The row of its input that asks. */
	get row(): AskingRow {
		return (this.knownRow ??= findAskingRow(this.context));
	}

	/** Only these rows may be asking. */
	setPossibleRows(possible: readonly Row[]): void {
		this.knownRow = withPossible(possible, this.row);
	}

	/** The ID of the tool request. Undefined with older agents. */
	get toolCallId(): string | undefined {
		return plainText(this.row.item?.[TOOL_CALL_ID]) || undefined;
	}

	/** Whether a person has approved the request. */
	get isReviewed(): boolean {
		return isReviewed(this.context);
	}
}
