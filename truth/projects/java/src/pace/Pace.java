package pace;

/** Time and distance. */
public final class Pace {
    private Pace() {}

    /** Seconds for one kilometre. */
    public static int perKilometre(int seconds, int metres) {
        return seconds / (metres / 1000);
    }
}
