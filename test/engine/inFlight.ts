import { untilIdle } from '../n8n/until';

/**
 * Counts requests in flight. The first ones wait until that many are in flight at the same time and no other arrives, so
 * that the count doesn't depend on the speed of the machine.
 */
export class InFlight {
	/** The maximum at the same time. */
	max = 0;

	private current = 0;

	private reach = () => {};

	private readonly reached = new Promise<void>((resolve) => (this.reach = resolve));

	constructor(private readonly expected: number) {}

	async enter(): Promise<void> {
		this.max = Math.max(this.max, ++this.current);
		if (this.current === this.expected) void untilIdle().then(this.reach);
		await this.reached;
	}

	leave(): void {
		this.current--;
	}
}
